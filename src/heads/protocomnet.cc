#include "heads/protocomnet.h"

#include <torch/torch.h>

#include <cmath>

#include "base/error.h"
#include "fewshot/paper/completion_model.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// Draws uniformly from +-1/sqrt(fan_in), as torch.nn.Linear does for weight and bias.
at::Tensor linear_init(at::IntArrayRef shape, int64_t fan_in) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  return torch::empty(shape).uniform_(-bound, bound).set_requires_grad(true);
}

}  // namespace

ProtoComNet::ProtoComNet(const ProtoComNetOptions& options) : options_(options) {
  int64_t fan_in = 0;
  for (const auto& [name, shape] : weight_shapes(options)) {
    if (shape.size() == 2) fan_in = shape[1];  // also of the bias that follows
    state_.emplace_back(name, linear_init(shape, fan_in));
  }
}

ProtoComNet::ProtoComNet(const CompletionModel& model) : options_(model.sizes) {
  for (const auto& [name, array] : model.weights) state_.emplace_back(name, tensor_of(array).set_requires_grad(true));
}

const at::Tensor& ProtoComNet::parameter(const std::string& name) const {
  for (const auto& [key, tensor] : state_) {
    if (key == name) return tensor;
  }
  fail("unknown parameter '{}' of ProtoComNet: expected names such as '{}'", name, state_.front().first);
}

std::vector<at::Tensor> ProtoComNet::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : state_) tensors.push_back(entry.second);
  return tensors;
}

at::Tensor ProtoComNet::encode(const at::Tensor& features) const {
  return torch::relu(torch::linear(features, parameter("encoder.weight"), parameter("encoder.bias")));
}

at::Tensor ProtoComNet::decode(const at::Tensor& codes) const {
  const at::Tensor hidden =
      torch::relu(torch::linear(codes, parameter("decoder.0.weight"), parameter("decoder.0.bias")));
  return torch::linear(hidden, parameter("decoder.2.weight"), parameter("decoder.2.bias"));
}

at::Tensor ProtoComNet::attention(const CompletionInput& input) const {
  // W [p_k | h_k | h_a] is the sum of three products, each of which is computed once per prototype or attribute instead
  // of once per pair.
  const auto blocks = parameter("aggregator.0.weight")
                          .split_with_sizes({options_.feature_dim, options_.embedding_dim, options_.embedding_dim}, 1);
  const at::Tensor class_share = torch::mm(input.prototypes, blocks[0].t()) +
                                 torch::mm(unit_vectors(input.class_embedding), blocks[1].t()) +
                                 parameter("aggregator.0.bias");                                         // [m, hidden]
  const at::Tensor attribute_share = torch::mm(unit_vectors(input.attribute_embedding), blocks[2].t());  // [a, hidden]
  // embedding gathers rows like index_select, but its gradient is one pass instead of one tensor operation per row.
  const at::Tensor hidden = torch::relu(torch::embedding(class_share, input.pair_prototype) +
                                        torch::embedding(attribute_share, input.pair_attribute));  // [p, hidden]
  const at::Tensor scores = torch::linear(hidden, parameter("aggregator.2.weight"), parameter("aggregator.2.bias"));
  return input.pair_weight * scores.squeeze(1);
}

at::Tensor ProtoComNet::forward(const CompletionInput& input) const {
  at::Tensor aggregate = encode(input.prototypes);  // [m, code]
  if (input.pair_prototype.size(0) > 0) {
    const at::Tensor alpha = attention(input);
    const at::Tensor weights = torch::zeros({input.prototypes.size(0), alpha.size(0)}, alpha.options())
                                   .scatter(0, input.pair_prototype.unsqueeze(0), alpha.unsqueeze(0));  // [m, p]
    aggregate = aggregate + torch::mm(weights, encode(input.pair_feature));
  }
  return decode(aggregate);
}

std::vector<std::pair<std::string, Array>> weights_of(const ProtoComNet& network) {
  return arrays_of(network.state_dict());
}

}  // namespace protocom
