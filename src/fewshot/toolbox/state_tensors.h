#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "protocom/fewshot/method.h"

namespace protocom {

/// Adds a tensor to what a fitted method keeps, contiguous; nothing where it is undefined.
void add_tensor(MethodState& state, const std::string& name, const at::Tensor& tensor);

bool has_tensor(const MethodState& state, const std::string& name);

/// A tensor of this shape in float64; -1: any size. Throws Error when it is missing, has another shape or a value that
/// is not finite.
at::Tensor finite_tensor(const MethodState& state, const std::string& name, at::IntArrayRef shape);

}  // namespace protocom
