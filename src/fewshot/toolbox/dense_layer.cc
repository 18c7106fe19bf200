#include "fewshot/toolbox/detail/dense_layer.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {

DenseLayer::DenseLayer(const at::Tensor& weight, const at::Tensor& bias) : depth_(weight.size(1)) {
  const int64_t out = weight.size(0);
  const int64_t panels = (out + kPanelWidth - 1) / kPanelWidth;
  panels_.assign(static_cast<size_t>(panels * depth_ * kPanelWidth), 0.0F);
  bias_.assign(static_cast<size_t>(padded_length(out)), 0.0F);
  const at::Tensor plain = weight.detach().to(at::kFloat).contiguous();
  const float* w = plain.data_ptr<float>();
  for (int64_t j = 0; j < out; ++j) {
    float* panel = panels_.data() + j / kPanelWidth * depth_ * kPanelWidth + j % kPanelWidth;
    for (int64_t k = 0; k < depth_; ++k) panel[k * kPanelWidth] = w[j * depth_ + k];
  }
  if (!bias.defined()) return;
  const at::Tensor plain_bias = bias.detach().to(at::kFloat).contiguous();
  std::copy_n(plain_bias.data_ptr<float>(), out, bias_.data());
}

void DenseLayer::apply(const float* in, int64_t in_stride, int64_t rows, float* out) const {
  dense_rows({in, in_stride, rows, depth_, panels_.data(), bias_.data(), width()}, out);
}

}  // namespace protocom
