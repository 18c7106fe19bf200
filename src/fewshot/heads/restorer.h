#pragma once
#include "fewshot/toolbox/two_layers.h"

namespace protocom {

/// The network M of RestoreNet, Linear(d -> d/2), ReLU, Linear(d/2 -> d), of a state. Throws Error for tensors that do
/// not fit one another.
TwoLayers restorer_of(const MethodState& state);

/// (1 - share) p + share M(p) of prototypes [..., d]. Throws Error for prototypes of another dimension.
at::Tensor restored(const TwoLayers& restorer, const at::Tensor& prototypes, double share);

}  // namespace protocom
