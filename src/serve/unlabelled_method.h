#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "protocom/fewshot/method.h"

namespace protocom {

/// How many images whose class nobody has said a method's state holds.
int64_t unlabelled_in(MethodState state);

/// The method with these images, float32 [n, d], beside those that it has; itself where it does not learn from such, or
/// there are none.
std::shared_ptr<const Method> with_unlabelled(const std::shared_ptr<const Method>& method, const at::Tensor& images);

/// The method without any.
std::shared_ptr<const Method> without_unlabelled(const std::shared_ptr<const Method>& method);

}  // namespace protocom
