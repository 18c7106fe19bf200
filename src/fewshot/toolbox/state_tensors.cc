#include "fewshot/toolbox/detail/state_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "fewshot/toolbox/detail/expect_tensor.h"

namespace protocom {

void add_tensor(MethodState& state, const std::string& name, const at::Tensor& tensor) {
  if (tensor.defined()) state.tensors.emplace_back(name, tensor.contiguous());
}

bool has_tensor(const MethodState& state, const std::string& name) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [&](const auto& item) { return item.first == name; });
}

at::Tensor finite_tensor(const MethodState& state, const std::string& name, at::IntArrayRef shape) {
  const at::Tensor tensor = state.at(name).to(at::kDouble).contiguous();
  bool fits = tensor.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || tensor.size(static_cast<int64_t>(i)) == shape[i];
  if (!fits) {
    fail("'{}' has the shape [{}], expected [{}] (-1: any size)", name, fmt::join(tensor.sizes(), ", "),
         fmt::join(shape, ", "));
  }
  if (!tensor.isfinite().all().item<bool>()) fail("'{}' holds a value that is not finite; fit the method again", name);
  return tensor;
}

void StateFields::tensor(const std::string& name, at::Tensor& value, std::vector<int64_t> shape) {
  if (written_ != nullptr) {
    written_->tensors.emplace_back(name, value);
    return;
  }
  value = read_->at(name).to(at::kFloat);
  expect_tensor(value, {name, at::kFloat, std::move(shape)});
}

}  // namespace protocom
