#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "protocom/data/feature_set.h"

namespace protocom {

/// What every episode needs of the features, computed once for some classes: rows filled up for row_kernels.h, one over
/// their norms, and the classes' true centres (means of all their features, summed in float64).
class FeatureRows {
 public:
  /// `features` must outlive this.
  FeatureRows(const FeatureSet& features, const std::vector<int64_t>& classes);

  /// Floats a row, a multiple of kRowMultiple.
  [[nodiscard]] int64_t dim() const { return dim_; }
  [[nodiscard]] const float* row(int64_t row) const { return rows_ + row * dim_; }
  /// 1 / max(norm, 1e-12), of rows of the classes asked for.
  [[nodiscard]] float inverse_norm(int64_t row) const { return inverse_norm_[static_cast<size_t>(row)]; }
  [[nodiscard]] const float* centre(int64_t label) const { return centres_.data() + label * dim_; }
  [[nodiscard]] float inverse_centre_norm(int64_t label) const {
    return inverse_centre_norm_[static_cast<size_t>(label)];
  }

 private:
  void summarise(const std::vector<int64_t>& rows, int64_t label);

  int64_t dim_;
  at::Tensor padded_;  // [n, dim_]
  const float* rows_;
  std::vector<float> inverse_norm_;         // [n]
  std::vector<float> centres_;              // [c, dim_]
  std::vector<float> inverse_centre_norm_;  // [c]
};

/// 1 / max(norm, 1e-12) of a vector whose product with itself is `square`: zero vectors are similar to nothing.
float inverse_norm_of(float square);

}  // namespace protocom
