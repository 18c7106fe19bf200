#include "methods.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "calls.h"
#include "eval/fit.h"
#include "knowledge/build.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;

std::vector<nlohmann::json> all_specs() {
  std::vector<nlohmann::json> specs;
  for (const MethodSpec* spec : method_specs()) specs.push_back(to_json(*spec));
  return specs;
}

/// Makes knowledge from an array of associations, [c, a]. Every class counts as known beforehand.
SharedKnowledge make_knowledge(std::vector<std::string> classes, std::vector<std::string> attributes,
                               const py::object& association) {
  AttributeTable table;
  table.classes = std::move(classes);
  table.attributes = std::move(attributes);
  table.association = copy_of(association, "association").to(NumberType::kFloat32);
  table.source = {{"kind", "python"}};
  return unlocked([&] { return std::make_shared<Knowledge>(build_knowledge(table, {})); });
}

SharedFitted fit(const std::string& method, const std::shared_ptr<const FeatureSet>& features,
                 const SharedKnowledge& knowledge, uint64_t seed, py::object callback) {
  PythonProgress progress(std::move(callback));
  return unlocked([&] {
    return std::make_shared<const FittedMethod>(
        fit_method({*features, knowledge.get()}, FitRecipe{method, seed}, progress));
  });
}

void save(const FittedMethod& fitted, const fs::path& path) {
  Provenance provenance;
  provenance.command = "fit";
  unlocked([&] { write_fitted_method(path, fitted, provenance, nlohmann::json::object()); });
}

}  // namespace

std::vector<FittedMethod> values_of(const std::vector<SharedFitted>& fitted) {
  std::vector<FittedMethod> values;
  for (const SharedFitted& shared_fitted : fitted) values.push_back(*shared_fitted);
  return values;
}

void bind_methods(py::module_& module) {
  module.def("methods", [] { return python_of(all_specs()); });
  module.def("label", [](const std::string& text) { return make_method(text)->label(); });

  py::class_<CompletionModel, std::shared_ptr<CompletionModel>>(module, "CompletionModel")
      .def(py::init([](const fs::path& path) {
        return unlocked([&] { return std::make_shared<CompletionModel>(read_completion_model(path)); });
      }));
  py::class_<Knowledge, std::shared_ptr<Knowledge>>(module, "Knowledge")
      .def_static("read",
                  [](const fs::path& path) {
                    return unlocked([&] { return std::make_shared<Knowledge>(read_knowledge(path)); });
                  })
      .def_static("make", &make_knowledge)
      .def_readonly("classes", &Knowledge::classes)
      .def_readonly("attributes", &Knowledge::attributes)
      .def_property_readonly("association", [](const Knowledge& own) { return read_only_numpy_of(own.association); });
  py::class_<FittedMethod, std::shared_ptr<FittedMethod>>(module, "Fitted")
      .def_static("read",
                  [](const fs::path& path) {
                    return unlocked([&] { return std::make_shared<FittedMethod>(read_fitted_method(path)); });
                  })
      .def("save", &save)
      .def("space", [](const FittedMethod& own) { return std::make_shared<FittedMethod>(space_of(own)); })
      .def_property_readonly("method", [](const FittedMethod& own) { return own.method->label(); })
      .def_property_readonly("attributes", [](const FittedMethod& own) { return own.method->state().attributes; })
      .def_readonly("feature_dim", &FittedMethod::feature_dim)
      .def_readonly("trained_on", &FittedMethod::trained_on)
      .def_readonly("findings", &FittedMethod::findings);
  module.def("fit", &fit);
}

}  // namespace protocom::python
