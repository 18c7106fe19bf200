#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

// What a fitted model keeps as tensors, as matrices and back.

/// Of any float type, [m, e].
DoubleMatrix matrix_of(const at::Tensor& tensor);
FloatMatrix float_matrix_of(const at::Tensor& tensor);
/// [e].
DoubleVector vector_of(const at::Tensor& tensor);
/// int64 [m].
std::vector<int64_t> labels_of(const at::Tensor& tensor);
/// float32 or float64, as the matrix.
at::Tensor tensor_of(const FloatMatrix& matrix);
at::Tensor tensor_of(const DoubleMatrix& matrix);
at::Tensor tensor_of(const DoubleVector& vector);

}  // namespace protocom
