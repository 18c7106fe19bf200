#include <ATen/ATen.h>

#include "nn/onnx/operators.h"

/// What `simplify` puts in the place of several operators.
namespace protocom::onnx {
namespace {

Operation make_silu(const Binding& /*binding*/) {
  return one_output([](Tensors& in) { return is_own(in.at(0)) ? at::silu_(in[0]) : at::silu(in[0]); });
}

/// x W + b with W [in, out] as ONNX has it.
Operation make_linear(const Binding& binding) {
  const at::Tensor weight = binding.weight(1).t().contiguous();
  const at::Tensor bias = binding.weight(2);
  Sizes sizes = binding.sizes(0);
  if (!sizes.empty()) sizes.back() = bias.numel();
  check_elements(sizes);
  return one_output([weight, bias](Tensors& in) { return at::linear(in.at(0), weight, bias); });
}

}  // namespace

const std::vector<Operator>& fused_operators() {
  static const std::vector<Operator> kAll = {{kSilu, &make_silu}, {"protocom.Linear", &make_linear}};
  return kAll;
}

}  // namespace protocom::onnx
