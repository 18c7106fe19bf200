#pragma once
#include <cstdint>
#include <vector>

#include "base/array.h"
#include "base/matrix.h"

namespace protocom {

/// A linear layer with weights laid out for dense_rows. Outputs beyond those of the weight are zeros up to width().
class DenseLayer {
 public:
  /// weight [out, in], bias float32 [out], undefined for no bias; both are copied.
  explicit DenseLayer(const Eigen::Ref<const FloatMatrix>& weight, const Array& bias = {});

  /// Returns the outputs per row, rounded up to what dense_rows computes together.
  [[nodiscard]] int64_t width() const { return static_cast<int64_t>(bias_.size()); }

  /// Computes out [rows, width()] from in [rows, in_stride].
  void apply(const float* in, int64_t in_stride, int64_t rows, float* out) const;

 private:
  int64_t depth_;
  std::vector<float> panels_;  // [width / kPanelWidth, depth, kPanelWidth]
  std::vector<float> bias_;
};

}  // namespace protocom
