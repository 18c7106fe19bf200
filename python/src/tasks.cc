#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arrays.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/matrix.h"
#include "calls.h"
#include "fewshot/paper/describe_task.h"
#include "fewshot/task_classifier.h"
#include "fewshot/task_images.h"
#include "methods.h"

namespace protocom::python {
namespace {

/// Parts from which a method is made.
struct Parts {
  std::string method;
  std::vector<SharedFitted> fitted;
  SharedKnowledge knowledge;
  SharedModel model;
  py::object base_features, base_labels;
  uint64_t seed = 0;
};

/// Returns integers [n] of any type as int64.
std::vector<int64_t> to_integers(const Array& array) {
  const Array whole = array.to(NumberType::kInt64);
  return {whole.data<int64_t>(), whole.data<int64_t>() + whole.numel()};
}

/// Converts to float32; undefined stays undefined.
Array floats(const Array& array) { return array.defined() ? array.to(NumberType::kFloat32) : array; }

std::shared_ptr<const Method> method_of(const Parts& parts) {
  return make_task_method(parts.method, values_of(parts.fitted));
}

std::shared_ptr<TaskClassifier> make_task(const Parts& parts, const py::object& features, const py::object& labels,
                                          std::vector<std::string> names, int64_t feature_dim) {
  const ArrayView x(features, "features"), y(labels, "labels");
  const ArrayView base(parts.base_features, "features of base classes"), base_labels(parts.base_labels, "labels");
  TaskInputs inputs;
  inputs.features = x.array();
  inputs.labels = y.array();
  inputs.classes = static_cast<int64_t>(names.size());
  inputs.class_names = std::move(names);
  inputs.knowledge = parts.knowledge;
  inputs.model = parts.model;
  inputs.feature_dim = parts.fitted.empty() ? feature_dim : parts.fitted.front()->feature_dim;
  inputs.seed = parts.seed;
  if (base.array().defined()) inputs.base = {base.array().copy(), to_integers(base_labels.array())};
  return unlocked([&] {
    describe_task(inputs);
    return std::make_shared<TaskClassifier>(method_of(parts), std::move(inputs));
  });
}

Array probabilities(const TaskClassifier& task, const Array& queries) {
  return unlocked([&] { return array_of_matrix(task.probabilities(queries)); });
}

/// Returns the probabilities of queries [q, d] in exactly the form that the library takes, and None for all others,
/// which Python then handles: between two calls the processor's cache loses Python's own lines, so that each of them
/// costs.
py::object quick_probabilities(const TaskClassifier& task, const py::object& queries) {
  if (task.sees_all_queries() || !is_plain_rows(queries, task.feature_dim())) return py::none();
  const ArrayView view(queries, "queries");
  return copied_numpy(probabilities(task, view.array()));
}

py::tuple scores(const TaskClassifier& task, const py::object& queries, const py::object& shares) {
  const ArrayView q(queries, "queries"), s(shares, "shares");
  const QueryScores found = unlocked([&] { return task.score(q.array(), s.array()); });
  const Eigen::VectorXf& unseen = found.unseen;
  const Array none = unseen.size() == 0 ? Array() : array_of_matrix(unseen).reshaped({unseen.size()});
  return py::make_tuple(numpy_of(array_of_matrix(found.logits)), numpy_of(none));
}

/// Arguments of batch_logits(), all float32.
struct Batch {
  Array support;  ///< [b, n, k, d]
  Array query;    ///< [b, q, d]
  Array mask;     ///< [b, n, k]; undefined: all supports are there
  std::vector<uint64_t> seeds;
};

std::string shape_of(const Array& array) {
  return array.defined() ? fmt::format("[{}]", fmt::join(array.shape(), ", ")) : "none";
}

/// Checks the sizes; -1: any size.
void expect(const Array& array, const char* name, const Shape& sizes) {
  bool fits = array.defined() && array.dim() == static_cast<int64_t>(sizes.size());
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = sizes[i] < 0 || array.shape()[i] == sizes[i];
  if (!fits)
    fail("the episodes' {} must be [{}] (-1: any size), found {}", name, fmt::join(sizes, ", "), shape_of(array));
}

void check(const Batch& batch) {
  expect(batch.query, "queries", {-1, -1, -1});
  const int64_t b = batch.query.size(0);
  expect(batch.support, "supports", {b, -1, -1, batch.query.size(2)});
  const int64_t n = batch.support.size(1);
  if (batch.mask.defined()) expect(batch.mask, "mask of supports", {b, n, batch.support.size(2)});
  if (n < 1) fail("an episode needs at least one class");
  if (!batch.seeds.empty() && static_cast<int64_t>(batch.seeds.size()) != b)
    fail("expected one seed per episode, found {} episodes and {} seeds", b, batch.seeds.size());
}

/// Returns the supports of episode `number` that are present; a mask between 0 and 1 is the weight of one.
TaskImages images_of(const Batch& batch, int64_t number) {
  const Array support = batch.support.row(number);
  const int64_t n = support.size(0), k = support.size(1);
  const Array rows = support.reshaped({n * k, support.size(2)});
  const float* mask = batch.mask.defined() ? batch.mask.data<float>() + number * n * k : nullptr;
  std::vector<int64_t> there, labels;
  std::vector<float> weights;
  for (int64_t i = 0; i < n * k; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    there.push_back(i);
    labels.push_back(i / k);
    weights.push_back(mask == nullptr ? 1.0F : mask[i]);
  }
  const FloatMatrix features = matrix_of<float>(rows)(there, Eigen::all);
  TaskImages images = TaskImages::of(features, labels, n);
  images.numbers.clear();
  if (std::any_of(weights.begin(), weights.end(), [](float weight) { return weight != std::round(weight); }))
    images.weights = weights;
  images.seed = batch.seeds.empty() ? 0 : batch.seeds[static_cast<size_t>(number)];
  return images;
}

/// Returns logits [b, q, n].
Array logits_of(const PreparedMethod& prepared, const Batch& batch) {
  check(batch);
  const int64_t b = batch.query.size(0), q = batch.query.size(1), n = batch.support.size(1);
  Array logits = Array::uninitialised({b, q, n});
  for (int64_t i = 0; i < b; ++i) {
    const Array query = batch.query.row(i);
    const TaskImages images = images_of(batch, i).mapped(prepared.space.get());
    const QueryScores scores = answer_of(prepared, images, matrix_of<float>(query));
    std::copy_n(scores.logits.data(), q * n, logits.mutable_data<float>() + i * q * n);
  }
  return logits;
}

/// Returns logits [b, q, n] of many episodes at once.
Array batch_logits(const Parts& parts, const py::object& support, const py::object& query, const py::object& mask,
                   const std::vector<uint64_t>& seeds) {
  const ArrayView s(support, "support"), q(query, "query"), m(mask, "support_mask");
  const ArrayView base(parts.base_features, "features of base classes"), base_labels(parts.base_labels, "labels");
  return unlocked([&] {
    LabelledFeatures own{base.array(), {}};
    if (base.array().defined()) own.labels = to_integers(base_labels.array());
    MethodContext context;
    if (own.features.defined()) context.base = &own;
    const auto method = method_of(parts);
    check_needs(*method, context);
    return logits_of(method->prepare(context), {floats(s.array()), floats(q.array()), floats(m.array()), seeds});
  });
}

/// Returns NumPy arrays, which keep the memory alive.
py::list numpy_of_all(const std::vector<Array>& arrays) {
  py::list all;
  for (const Array& array : arrays) all.append(numpy_of(array));
  return all;
}

/// Returns a task without its labelled images, and its base classes, in the form that Python pickles; None if it needs
/// the images.
py::object placed_of(const TaskClassifier& task) {
  const std::optional<PlacedTask> placed = task.placed();
  if (!placed) return py::none();
  std::vector<std::string> names;
  std::vector<Array> tensors;
  for (const auto& [name, tensor] : placed->state.tensors) {
    names.push_back(name);
    tensors.push_back(tensor);
  }
  return py::make_tuple(placed->method, names, numpy_of_all(tensors), numpy_of_all(placed->placed), placed->classes,
                        placed->feature_dim);
}

std::shared_ptr<TaskClassifier> task_of_placed(const std::string& method, const std::vector<std::string>& names,
                                               const std::vector<py::object>& tensors,
                                               const std::vector<py::object>& placed, int64_t classes,
                                               int64_t feature_dim, const py::object& base_features,
                                               const py::object& base_labels) {
  PlacedTask task{method, {}, {}, {}, classes, feature_dim};
  if (!base_features.is_none()) {
    const ArrayView labels(base_labels, "labels");
    task.base = {copy_of(base_features, "features of base classes"), to_integers(labels.array())};
  }
  if (names.size() != tensors.size())
    fail("expected one name per tensor, found {} tensors and {} names", tensors.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i)
    task.state.tensors.emplace_back(names[i], copy_of(tensors[i], names[i].c_str()));
  for (const py::object& one : placed) task.placed.push_back(copy_of(one, "classes"));
  return std::make_shared<TaskClassifier>(std::move(task));
}

}  // namespace

void bind_tasks(py::module_& module) {
  module.def("check_features", [](const py::object& rows, const char* what) {
    const ArrayView view(rows, what);
    check_features(view.array(), what);
  });
  py::class_<Parts>(module, "Parts")
      .def(py::init([](std::string method, std::vector<SharedFitted> fitted, SharedKnowledge knowledge,
                       SharedModel model, py::object base_features, py::object base_labels, uint64_t seed) {
        return Parts{std::move(method),
                     std::move(fitted),
                     std::move(knowledge),
                     std::move(model),
                     std::move(base_features),
                     std::move(base_labels),
                     seed};
      }))
      .def("label", [](const Parts& own) { return method_of(own)->label(); })
      .def("batch_logits",
           [](const Parts& own, const py::object& support, const py::object& query, const py::object& mask,
              const std::vector<uint64_t>& seeds) { return numpy_of(batch_logits(own, support, query, mask, seeds)); });
  py::class_<TaskClassifier, std::shared_ptr<TaskClassifier>>(module, "Task")
      .def(py::init(&make_task))
      .def_property_readonly("sees_all_queries", &TaskClassifier::sees_all_queries)
      .def("placed", &placed_of)
      .def_static("of_placed", &task_of_placed)
      .def("probabilities",
           [](const TaskClassifier& task, const py::object& queries) {
             const ArrayView view(queries, "queries");
             return numpy_of(probabilities(task, view.array()));
           })
      .def("quick_probabilities", &quick_probabilities)
      .def("scores", &scores, py::arg("queries"), py::arg("shares") = py::none());
}

}  // namespace protocom::python
