#include "fewshot/heads/state_fields.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/expect_tensor.h"

namespace protocom {

void StateFields::tensor(const std::string& name, at::Tensor& value, std::vector<int64_t> shape) {
  if (written_ != nullptr) {
    written_->tensors.emplace_back(name, value);
    return;
  }
  value = read_->at(name).to(at::kFloat);
  expect_tensor(value, {name, at::kFloat, std::move(shape)});
}

void StateFields::layers(const std::string& prefix, TwoLayers& value, const TwoLayersShape& shape, double slope) {
  if (written_ != nullptr) {
    value.add_to(*written_, prefix);
    return;
  }
  value = TwoLayers::of(*read_, prefix, slope);
  expect_tensor(value.hidden_weight, {prefix + "hidden.weight", at::kFloat, {-1, shape.in}});
  expect_tensor(value.output_bias, {prefix + "output.bias", at::kFloat, {shape.out}});
}

}  // namespace protocom
