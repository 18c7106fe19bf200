#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// enhanced_primitives() of fewshot/paper/primitive_enhancing.h for training: features float32 [..., d] to [..., d],
/// differentiable.
at::Tensor enhanced_primitives(const at::Tensor& features, double strength);

}  // namespace protocom
