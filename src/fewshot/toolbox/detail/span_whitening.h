#pragma once
#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

/// Coordinates [b, m, u] of the points, whitened within the span of the u images that an episode learns from (Hu,
/// Pateux, Gripon: BAVARDAGE, 2023): with U an orthonormal base of the span and S the scatter, the axes are the
/// eigenvectors of (U' S^-1 U)^-1, and each factor is its eigenvalue^-1/2 but at most `most`. `whitening` [d, d] is W
/// with W W' = S^-1. Without a limit all inner products of those images are what W makes of them.
at::Tensor whitened_in_span(const EpisodePoints& points, const at::Tensor& whitening, double most);

}  // namespace protocom
