#include "fewshot/toolbox/detail/dense_layer.h"

#include <algorithm>

#include "fewshot/row_kernels.h"

namespace protocom {

DenseLayer::DenseLayer(const Eigen::Ref<const FloatMatrix>& weight, const Array& bias) : depth_(weight.cols()) {
  const int64_t out = weight.rows();
  const int64_t panels = (out + kPanelWidth - 1) / kPanelWidth;
  panels_.assign(static_cast<size_t>(panels * depth_ * kPanelWidth), 0.0F);
  bias_.assign(static_cast<size_t>(padded_length(out)), 0.0F);
  for (int64_t j = 0; j < out; ++j) {
    float* panel = panels_.data() + j / kPanelWidth * depth_ * kPanelWidth + j % kPanelWidth;
    for (int64_t k = 0; k < depth_; ++k) panel[k * kPanelWidth] = weight(j, k);
  }
  if (bias.defined()) std::copy_n(bias.data<float>(), out, bias_.data());
}

void DenseLayer::apply(const float* in, int64_t in_stride, int64_t rows, float* out) const {
  dense_rows({in, in_stride, rows, depth_, panels_.data(), bias_.data(), width()}, out);
}

}  // namespace protocom
