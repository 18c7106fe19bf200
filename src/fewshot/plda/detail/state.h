#pragma once
#include "fewshot/method.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// A model as the tensors of a fitted method (docs/formats.md, "plda").
MethodState state_of(const PldaModel& model, const std::vector<std::string>& attributes);

/// The model of such tensors. Throws Error that names one that is missing, misshaped, not finite or, for variances,
/// negative.
PldaModel plda_model_of(const MethodState& state);

}  // namespace protocom
