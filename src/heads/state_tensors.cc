#include "heads/detail/state_tensors.h"

#include <ATen/ATen.h>

#include "heads/detail/expect_tensor.h"
#include "tensors/tensors.h"

namespace protocom {

void StateFields::tensor(const std::string& name, at::Tensor& value, std::vector<int64_t> shape) {
  if (written_ != nullptr) {
    written_->tensors.emplace_back(name, array_of(value));
    return;
  }
  value = tensor_of(read_->at(name)).to(at::kFloat);
  expect_tensor(value, {name, at::kFloat, std::move(shape)});
}

}  // namespace protocom
