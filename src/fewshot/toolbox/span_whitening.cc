#include "fewshot/toolbox/detail/span_whitening.h"

#include <ATen/ATen.h>

namespace protocom {
namespace {

/// Orthonormal rows [b, u, d] that span the rows of x [b, u, d]; rows of zeros for what it has too few dimensions for.
at::Tensor orthonormal_rows(const at::Tensor& x) {
  constexpr double kLeastShare = 1e-7;  // of the largest squared singular value
  const at::Tensor rows = x.to(at::kDouble);
  const auto [squares, vectors] = at::linalg_eigh(at::matmul(rows, rows.transpose(1, 2)));
  const at::Tensor large = squares > kLeastShare * squares.amax(-1, true);
  const at::Tensor scale = at::where(large, squares.clamp_min(1e-300).rsqrt(), at::zeros_like(squares));
  return (at::matmul(vectors.transpose(1, 2), rows) * scale.unsqueeze(-1)).to(x.scalar_type());
}

}  // namespace

at::Tensor whitened_in_span(const EpisodePoints& points, const at::Tensor& whitening, double most) {
  const at::Tensor base = orthonormal_rows(points.learned_from(points.features));
  const at::Tensor white = at::matmul(base, whitening).to(at::kDouble);
  const auto [squares, axes] = at::linalg_eigh(at::matmul(white, white.transpose(1, 2)));
  const at::Tensor factors = squares.clamp_min(0).sqrt().clamp_max(most);
  const at::Tensor turned = at::matmul(axes.transpose(1, 2), base.to(at::kDouble)) * factors.unsqueeze(-1);
  return at::matmul(points.features, turned.to(points.features.scalar_type()).transpose(1, 2));
}

}  // namespace protocom
