#include "heads/cosine_classifier.h"

#include <ATen/ATen.h>

#include "heads/detail/tensor_products.h"
#include "tensors/unit_vectors.h"

namespace protocom {

at::Tensor cosine_similarity(const at::Tensor& queries, const at::Tensor& prototypes) {
  return inner_products(unit_vectors(queries), unit_vectors(prototypes));
}

at::Tensor cosine_probabilities(const at::Tensor& queries, const at::Tensor& prototypes, double scale) {
  return (protocom::cosine_similarity(queries, prototypes) * scale).softmax(-1);
}

}  // namespace protocom
