#include "knowledge/graph_embedding.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace protocom {
namespace {

/// Singular values below this share of the first are rounding, and their directions arbitrary.
constexpr double kRankTolerance = 1e-9;

/// A decomposition leaves the sign of each direction open.
at::Tensor fix_signs(const at::Tensor& directions) {                        // [e, m]
  const at::Tensor largest = directions.abs().argmax(1, /*keepdim=*/true);  // [e, 1]
  return directions * directions.gather(1, largest).sign();
}

}  // namespace

at::Tensor embed_graph(const at::Tensor& association, int64_t dim) {
  if (dim < 1) fail_usage("an embedding of {} dimensions was asked for, expected at least 1", dim);
  const int64_t n_columns = association.size(1);
  if (association.count_nonzero().item<int64_t>() == 0) return at::zeros({n_columns, 1});
  at::Tensor values;      // [min(c, m)]
  at::Tensor directions;  // [min(c, m), m]
  std::tie(std::ignore, values, directions) = at::linalg_svd(association.to(at::kDouble), /*full_matrices=*/false);
  const auto rank = values.gt(values[0] * kRankTolerance).sum().item<int64_t>();
  const int64_t kept = std::min(dim, rank);
  values = values.slice(0, 0, kept);
  directions = fix_signs(directions.slice(0, 0, kept));
  return (directions.t() * values.sqrt()).to(at::kFloat).contiguous();
}

at::Tensor place_rows(const at::Tensor& columns, const at::Tensor& rows) {
  const at::Tensor precise = columns.to(at::kDouble);
  const at::Tensor squares = precise.pow(2).sum(0);  // [e], the singular values
  const at::Tensor inverse = at::where(squares > 0, squares.reciprocal(), at::zeros_like(squares));
  return (at::matmul(rows.to(at::kDouble), precise) * inverse).to(at::kFloat);  // [n, e]
}

}  // namespace protocom
