#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "knowledge/knowledge.h"

namespace protocom::python {

namespace py = pybind11;

/// A fitted method, shared by all objects made with it.
using SharedFitted = std::shared_ptr<const FittedMethod>;
using SharedKnowledge = std::shared_ptr<const Knowledge>;
using SharedModel = std::shared_ptr<const CompletionModel>;

std::vector<FittedMethod> values_of(const std::vector<SharedFitted>& fitted);

/// Binds methods, what they are fitted on, and tasks.
void bind_methods(py::module_& module);
void bind_tasks(py::module_& module);
/// Binds features with their classes, episodes and evaluations.
void bind_evaluation(py::module_& module);
void bind_images(py::module_& module);
void bind_texts(py::module_& module);
void bind_recognizer(py::module_& module);
void bind_training(py::module_& module);

}  // namespace protocom::python
