#pragma once
#include "fewshot/method.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// Returns a model as the tensors of a fitted method (docs/formats.md, "plda").
MethodState state_of(const PldaModel& model, const std::vector<std::string>& attributes);

/// Returns the model with these tensors. Throws Error that names a tensor that is missing, of the wrong shape, not
/// finite or, for variances, negative.
PldaModel plda_model_of(const MethodState& state);

}  // namespace protocom
