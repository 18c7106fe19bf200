#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace protocom {

/// A linear layer with its weights laid out for dense_rows. Outputs beyond out() are zeros up to width().
class DenseLayer {
 public:
  /// weight [out, in], bias [out] or undefined for none; both are copied.
  explicit DenseLayer(const at::Tensor& weight, const at::Tensor& bias = {});

  /// Outputs a row, rounded up to what dense_rows computes together.
  [[nodiscard]] int64_t width() const { return static_cast<int64_t>(bias_.size()); }

  /// in [rows, in_stride] -> out [rows, width()].
  void apply(const float* in, int64_t in_stride, int64_t rows, float* out) const;

 private:
  int64_t depth_;
  std::vector<float> panels_;  // [width / kPanelWidth, depth, kPanelWidth]
  std::vector<float> bias_;
};

}  // namespace protocom
