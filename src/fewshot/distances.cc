#include "protocom/fewshot/distances.h"

#include <ATen/ATen.h>

namespace protocom {

at::Tensor squared_distances(const at::Tensor& queries, const at::Tensor& points) {
  const at::Tensor query_square = queries.square().sum(-1, /*keepdim=*/true);  // [..., q, 1]
  const at::Tensor point_square = points.square().sum(-1).unsqueeze(-2);       // [..., 1, n]
  return (query_square + point_square - 2 * at::matmul(queries, points.transpose(-1, -2))).clamp_min(0);
}

}  // namespace protocom
