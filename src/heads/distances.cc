#include "heads/distances.h"

#include <ATen/ATen.h>

#include "heads/detail/tensor_products.h"

namespace protocom {

at::Tensor squared_distances(const at::Tensor& queries, const at::Tensor& points) {
  const at::Tensor point_square = points.square().sum(-1).unsqueeze(-2);  // [..., 1, n]
  return (row_squares(queries) + point_square - 2 * inner_products(queries, points)).clamp_min(0);
}

}  // namespace protocom
