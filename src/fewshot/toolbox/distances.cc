#include "fewshot/toolbox/distances.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {

at::Tensor squared_distances(const at::Tensor& queries, const at::Tensor& points) {
  const at::Tensor point_square = points.square().sum(-1).unsqueeze(-2);  // [..., 1, n]
  const at::Tensor query_square =                                         // [..., q, 1]
      are_plain_rows(queries) ? row_squares(queries) : queries.square().sum(-1, /*keepdim=*/true);
  return (query_square + point_square - 2 * inner_products(queries, points)).clamp_min(0);
}

}  // namespace protocom
