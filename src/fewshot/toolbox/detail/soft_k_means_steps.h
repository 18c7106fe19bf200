#pragma once
#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom {

struct SoftKMeansOptions {
  double sharpness = 1;
  int64_t steps = 1;
};

/// Class means, as coefficients [b, n, m] of the points, after steps of
///   r_jk = softmax_k(-sharpness |q_j - m_k|^2),  m_k = (sum of supports + sum_j r_jk q_j) / (K + sum_j r_jk).
/// Equation 6 of Ren et al., ICLR 2018.
at::Tensor soft_k_means_steps(const EpisodePoints& points, const Span& span, const SoftKMeansOptions& options);

}  // namespace protocom
