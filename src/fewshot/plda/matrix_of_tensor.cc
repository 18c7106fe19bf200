#include "fewshot/plda/detail/matrix_of_tensor.h"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <vector>

#include "tensors/tensors.h"

namespace protocom {
namespace {

template <typename Number>
Eigen::Map<const RowMatrix<Number>> rows_of(const at::Tensor& tensor) {
  const int64_t width = tensor.size(-1);
  return {tensor.data_ptr<Number>(), c10::multiply_integers(tensor.sizes().slice(0, tensor.dim() - 1)), width};
}

}  // namespace

DoubleMatrix matrix_of(const at::Tensor& tensor) {
  return rows_of<double>(tensor.to(at::kCPU, at::kDouble).contiguous());
}

FloatMatrix float_matrix_of(const at::Tensor& tensor) {
  return rows_of<float>(tensor.to(at::kCPU, at::kFloat).contiguous());
}

at::Tensor tensor_of(const FloatMatrix& matrix) { return tensor_of(array_of_matrix(matrix)); }

at::Tensor placed_rows(const at::Tensor& features, int64_t width, const PlaceRows& place) {
  const at::Tensor plain = features.to(at::kFloat).contiguous();
  const auto from = rows_of<float>(plain);
  std::vector<int64_t> sizes = plain.sizes().vec();
  sizes.back() = width;
  at::Tensor rows = at::empty(sizes);
  place(from, Eigen::Map<FloatMatrix>(rows.data_ptr<float>(), from.rows(), width));
  return rows;
}

}  // namespace protocom
