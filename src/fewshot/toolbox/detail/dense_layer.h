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

/// A layer an episode, without bias: no BLAS is made for products of so few rows.
class DenseLayers {
 public:
  DenseLayers() = default;
  /// weight [b, out, in]
  explicit DenseLayers(const at::Tensor& weight);
  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// in [b, rows, in] -> [b, rows, out], a slice of longer rows.
  [[nodiscard]] at::Tensor apply(const at::Tensor& in) const;

 private:
  std::vector<DenseLayer> layers_;
  int64_t out_ = 0;
};

}  // namespace protocom
