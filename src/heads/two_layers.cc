#include "heads/detail/two_layers.h"

#include <torch/nn/modules/linear.h>

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

void TwoLayers::fields(StateFields& state, const std::string& prefix, const TwoLayersShape& shape, double of_slope) {
  slope = of_slope;
  state.tensor(prefix + "hidden.weight", hidden_weight, {-1, shape.in});
  const int64_t width = hidden_weight.size(0);
  state.tensor(prefix + "hidden.bias", hidden_bias, {width});
  state.tensor(prefix + "output.weight", output_weight, {shape.out, width});
  state.tensor(prefix + "output.bias", output_bias, {output_weight.size(0)});
}

}  // namespace protocom
