#pragma once
#include <ATen/ATen.h>

#include <vector>

#include "base/matrix.h"
#include "fewshot/plda/space.h"
#include "tensors/tensors.h"

/// Converts between the tensors that tests draw and check, and the matrices that plda works on.
namespace protocom {

/// Returns the rows [m, d] of a tensor [..., d] of any float type.
template <typename Number>
RowMatrix<Number> rows_of_tensor(const at::Tensor& tensor, at::ScalarType type) {
  const at::Tensor plain = tensor.to(at::kCPU, type).contiguous();
  const int64_t width = plain.size(-1), rows = width == 0 ? plain.size(0) : plain.numel() / width;
  return Eigen::Map<const RowMatrix<Number>>(plain.data_ptr<Number>(), rows, width);
}
inline DoubleMatrix matrix_of(const at::Tensor& tensor) { return rows_of_tensor<double>(tensor, at::kDouble); }
inline FloatMatrix float_matrix_of(const at::Tensor& tensor) { return rows_of_tensor<float>(tensor, at::kFloat); }
/// Returns float32 [n, d].
inline at::Tensor tensor_of(const FloatMatrix& matrix) { return tensor_of(array_of_matrix(matrix)); }

/// Returns [e].
inline DoubleVector vector_of(const at::Tensor& tensor) { return matrix_of(tensor.flatten()).row(0); }
/// Returns integers of any type [m].
inline std::vector<int64_t> labels_of(const at::Tensor& tensor) { return numbers_of(tensor.to(at::kLong)); }
/// Returns a float64 tensor.
inline at::Tensor tensor_of(const DoubleMatrix& matrix) { return tensor_of(array_of_matrix(matrix)); }
inline at::Tensor tensor_of(const DoubleVector& vector) { return tensor_of(array_of_matrix(vector)).flatten(); }

namespace testing {

/// Returns f of features [..., d], float64 [..., e].
inline at::Tensor transformed(const PldaSpace& space, const at::Tensor& features) {
  std::vector<int64_t> sizes = features.sizes().vec();
  sizes.back() = space.projection.cols();
  return protocom::tensor_of(space.transform(matrix_of(features))).view(sizes);
}

/// Returns the moments of features [m, d], float64, with labels [m].
inline UnitMoments moments_of(const at::Tensor& features, const at::Tensor& labels, const DoubleVector& center) {
  return unit_moments<double>(matrix_of(features), labels_of(labels), center);
}
inline UnitMoments moments_of(const at::Tensor& features, const at::Tensor& labels) {
  return moments_of(features, labels, vector_of(features.mean(0)));
}

}  // namespace testing
}  // namespace protocom
