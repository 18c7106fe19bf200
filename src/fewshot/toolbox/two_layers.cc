#include "fewshot/toolbox/two_layers.h"

#include <torch/nn/modules/linear.h>

#include "fewshot/toolbox/expect_tensor.h"

namespace protocom {

TwoLayers TwoLayers::untrained(const TwoLayersShape& shape, double slope) {
  const torch::nn::Linear hidden(shape.in, shape.hidden);
  const torch::nn::Linear output(shape.hidden, shape.out);
  return {hidden->weight, hidden->bias, output->weight, output->bias, slope};
}

at::Tensor TwoLayers::hidden(const at::Tensor& x) const {
  const at::Tensor linear = at::linear(x, hidden_weight, hidden_bias);
  return slope == 0 ? linear.relu() : at::leaky_relu(linear, slope);
}

at::Tensor TwoLayers::output(const at::Tensor& x) const { return at::linear(x, output_weight, output_bias); }

std::vector<at::Tensor> TwoLayers::parameters() const {
  return {hidden_weight, hidden_bias, output_weight, output_bias};
}

void TwoLayers::add_to(MethodState& state, const std::string& prefix) const {
  state.tensors.emplace_back(prefix + "hidden.weight", hidden_weight);
  state.tensors.emplace_back(prefix + "hidden.bias", hidden_bias);
  state.tensors.emplace_back(prefix + "output.weight", output_weight);
  state.tensors.emplace_back(prefix + "output.bias", output_bias);
}

TwoLayers TwoLayers::of(const MethodState& state, const std::string& prefix, double slope) {
  const auto taken = [&](const char* name, std::vector<int64_t> shape) {
    const at::Tensor tensor = state.at(prefix + name).to(at::kFloat);
    expect_tensor(tensor, {prefix + name, at::kFloat, std::move(shape)});
    return tensor;
  };
  TwoLayers layers;
  layers.slope = slope;
  layers.hidden_weight = taken("hidden.weight", {-1, -1});
  const int64_t hidden = layers.hidden_weight.size(0);
  layers.hidden_bias = taken("hidden.bias", {hidden});
  layers.output_weight = taken("output.weight", {-1, hidden});
  layers.output_bias = taken("output.bias", {layers.output_weight.size(0)});
  return layers;
}

}  // namespace protocom
