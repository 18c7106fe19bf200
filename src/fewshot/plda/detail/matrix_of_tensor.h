#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/matrix.h"

namespace protocom {

// The border between matrices and what a FeatureTransform, a ClassPlacer and a batch have as tensors.

/// Rows [m, d] of a tensor [..., d] of any float type.
DoubleMatrix matrix_of(const at::Tensor& tensor);
FloatMatrix float_matrix_of(const at::Tensor& tensor);
/// float32 [n, d].
at::Tensor tensor_of(const FloatMatrix& matrix);

/// Makes rows [m, width] of features [m, d].
using PlaceRows = std::function<void(const Eigen::Ref<const FloatMatrix>& features, Eigen::Ref<FloatMatrix> rows)>;
/// Those of a tensor [..., d]: [..., width].
at::Tensor placed_rows(const at::Tensor& features, int64_t width, const PlaceRows& place);

}  // namespace protocom
