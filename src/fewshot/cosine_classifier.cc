#include "protocom/fewshot/cosine_classifier.h"

#include <ATen/ATen.h>

#include "protocom/nn/unit_vectors.h"

namespace protocom {

at::Tensor cosine_similarity(const at::Tensor& queries, const at::Tensor& prototypes) {
  return at::matmul(unit_vectors(queries), unit_vectors(prototypes).transpose(-1, -2));
}

at::Tensor cosine_probabilities(const at::Tensor& queries, const at::Tensor& prototypes, double scale) {
  return (protocom::cosine_similarity(queries, prototypes) * scale).softmax(-1);
}

}  // namespace protocom
