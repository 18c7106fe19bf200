#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "fewshot/paper/describe_task.h"
#include "fewshot/task_classifier.h"
#include "methods.h"
#include "tensors/tensors.h"

namespace protocom::python {
namespace {

/// What a method is made with.
struct Parts {
  std::string method;
  std::vector<SharedFitted> fitted;
  SharedKnowledge knowledge;
  SharedModel model;
  py::object base_features, base_labels;
  uint64_t seed = 0;
};

std::shared_ptr<const Method> method_of(const Parts& parts) {
  return make_task_method(parts.method, values_of(parts.fitted));
}

std::shared_ptr<TaskClassifier> make_task(const Parts& parts, const py::object& features, const py::object& labels,
                                          std::vector<std::string> names, int64_t feature_dim) {
  const ArrayView x(features, "features"), y(labels, "labels");
  const ArrayView base(parts.base_features, "features of base classes"), base_labels(parts.base_labels, "labels");
  TaskInputs inputs;
  inputs.features = tensor_of(x.array());
  inputs.labels = tensor_of(y.array());
  inputs.classes = static_cast<int64_t>(names.size());
  inputs.class_names = std::move(names);
  inputs.knowledge = parts.knowledge;
  inputs.model = parts.model;
  inputs.feature_dim = parts.fitted.empty() ? feature_dim : parts.fitted.front()->feature_dim;
  inputs.seed = parts.seed;
  if (base.array().defined()) inputs.base = {tensor_of(base.array().copy()), tensor_of(base_labels.array().copy())};
  return unlocked([&] {
    describe_task(inputs);
    return std::make_shared<TaskClassifier>(method_of(parts), std::move(inputs));
  });
}

Array probabilities(const TaskClassifier& task, const Array& queries) {
  return unlocked([&] {
    const at::NoGradGuard no_grad;
    return protocom::array_of(task.score(tensor_of(queries)).logits.softmax(-1));
  });
}

/// Probabilities of queries [q, d] that are just what the library takes, and None for all else, which Python then looks
/// at: between two calls the processor forgets Python's own lines, so that each of them costs.
py::object quick_probabilities(const TaskClassifier& task, const py::object& queries) {
  if (!is_plain_rows(queries, task.feature_dim())) return py::none();
  const ArrayView view(queries, "queries");
  return copied_numpy(probabilities(task, view.array()));
}

py::tuple scores(const TaskClassifier& task, const py::object& queries, const py::object& shares) {
  const ArrayView q(queries, "queries"), s(shares, "shares");
  const QueryScores found = unlocked([&] { return task.score(tensor_of(q.array()), tensor_of(s.array())); });
  return py::make_tuple(numpy_of(protocom::array_of(found.logits)), numpy_of(protocom::array_of(found.unseen)));
}

/// Logits [b, q, n] of many episodes at once.
Array batch_logits(const Parts& parts, const py::object& support, const py::object& query, const py::object& mask,
                   const std::vector<uint64_t>& seeds) {
  const ArrayView s(support, "support"), q(query, "query"), m(mask, "support_mask");
  const ArrayView base(parts.base_features, "features of base classes"), base_labels(parts.base_labels, "labels");
  return unlocked([&] {
    const at::NoGradGuard no_grad;
    EpisodeBatch batch;
    batch.support = tensor_of(s.array()).to(at::kFloat);
    batch.query = tensor_of(q.array()).to(at::kFloat);
    if (m.array().defined()) batch.support_mask = tensor_of(m.array()).to(at::kFloat);
    batch.seed = seeds;
    const LabelledFeatures own{tensor_of(base.array()), tensor_of(base_labels.array())};
    MethodContext context;
    if (own.features.defined()) context.base = &own;
    const auto method = method_of(parts);
    check_needs(*method, context);
    return protocom::array_of(method->prepare(context)->score(batch).logits);
  });
}

}  // namespace

void bind_tasks(py::module_& module) {
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
      .def("probabilities",
           [](const TaskClassifier& task, const py::object& queries) {
             const ArrayView view(queries, "queries");
             return numpy_of(probabilities(task, view.array()));
           })
      .def("quick_probabilities", &quick_probabilities)
      .def("scores", &scores, py::arg("queries"), py::arg("shares") = py::none());
}

}  // namespace protocom::python
