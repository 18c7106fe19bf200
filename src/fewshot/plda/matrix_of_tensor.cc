#include "fewshot/plda/detail/matrix_of_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace protocom {

DoubleMatrix matrix_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kCPU, at::kDouble).contiguous();
  return Eigen::Map<const DoubleMatrix>(plain.data_ptr<double>(), plain.size(0), plain.size(1));
}

FloatMatrix float_matrix_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kCPU, at::kFloat).contiguous();
  return Eigen::Map<const FloatMatrix>(plain.data_ptr<float>(), plain.size(0), plain.size(1));
}

DoubleVector vector_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kCPU, at::kDouble).contiguous();
  return Eigen::Map<const DoubleVector>(plain.data_ptr<double>(), plain.numel());
}

std::vector<int64_t> labels_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kCPU, at::kLong).contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

at::Tensor tensor_of(const FloatMatrix& matrix) {
  at::Tensor tensor = at::empty({matrix.rows(), matrix.cols()});
  std::copy_n(matrix.data(), matrix.size(), tensor.data_ptr<float>());
  return tensor;
}

at::Tensor tensor_of(const DoubleMatrix& matrix) {
  at::Tensor tensor = at::empty({matrix.rows(), matrix.cols()}, at::kDouble);
  std::copy_n(matrix.data(), matrix.size(), tensor.data_ptr<double>());
  return tensor;
}

at::Tensor tensor_of(const DoubleVector& vector) {
  at::Tensor tensor = at::empty({vector.size()}, at::kDouble);
  std::copy_n(vector.data(), vector.size(), tensor.data_ptr<double>());
  return tensor;
}

}  // namespace protocom
