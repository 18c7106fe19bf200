#include "protocom/fewshot/cosine_classifier.h"

#include <ATen/ATen.h>

namespace protocom {
namespace {

at::Tensor unit(const at::Tensor& vectors) {
  constexpr double kTiny = 1e-12;
  return vectors / vectors.norm(2, -1, true).clamp_min(kTiny);
}

}  // namespace

at::Tensor cosine_similarity(const at::Tensor& queries, const at::Tensor& prototypes) {
  return at::matmul(unit(queries), unit(prototypes).transpose(-1, -2));
}

at::Tensor cosine_probabilities(const at::Tensor& queries, const at::Tensor& prototypes, double scale) {
  return (protocom::cosine_similarity(queries, prototypes) * scale).softmax(-1);
}

}  // namespace protocom
