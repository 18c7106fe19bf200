#pragma once
#include <ATen/ATen.h>

#include <vector>

#include "fewshot/plda/detail/matrix_of_tensor.h"
#include "fewshot/plda/space.h"
#include "tensors/tensors.h"

/// Tests draw and check tensors; these are what plda works on, and back.
namespace protocom {

/// [e].
inline DoubleVector vector_of(const at::Tensor& tensor) { return matrix_of(tensor.flatten()).row(0); }
/// Whole numbers of any type [m].
inline std::vector<int64_t> labels_of(const at::Tensor& tensor) { return numbers_of(tensor.to(at::kLong)); }
/// float64.
inline at::Tensor tensor_of(const DoubleMatrix& matrix) { return tensor_of(array_of_matrix(matrix)); }
inline at::Tensor tensor_of(const DoubleVector& vector) { return tensor_of(array_of_matrix(vector)).flatten(); }

namespace testing {

/// f of features [..., d], float64 [..., e].
inline at::Tensor transformed(const PldaSpace& space, const at::Tensor& features) {
  std::vector<int64_t> sizes = features.sizes().vec();
  sizes.back() = space.projection.cols();
  return protocom::tensor_of(space.transform(matrix_of(features))).view(sizes);
}

/// Of features [m, d], float64, with labels [m].
inline UnitMoments moments_of(const at::Tensor& features, const at::Tensor& labels, const DoubleVector& center) {
  return unit_moments<double>(matrix_of(features), labels_of(labels), center);
}
inline UnitMoments moments_of(const at::Tensor& features, const at::Tensor& labels) {
  return moments_of(features, labels, vector_of(features.mean(0)));
}

}  // namespace testing
}  // namespace protocom
