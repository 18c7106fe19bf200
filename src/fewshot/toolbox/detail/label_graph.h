#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

struct LabelGraphOptions {
  double alpha = 0.8;       ///< share that a point takes from its neighbours, below 1
  int64_t neighbours = 15;  ///< nearest others of each point
  double power = 3;         ///< of the cosine
};

/// Label propagation (Zhou, Bousquet, Lal, Weston, Schoelkopf, NeurIPS 2003) on the graph of Iscen et al. (CVPR 2019):
/// A_ij = max(cos, 0)^power for the nearest j of i, W = D^-1/2 (A + A') D^-1/2, F = (I - alpha W)^-1 Y, over supports
/// and unlabelled images. In float64.
class LabelGraph {
 public:
  LabelGraph(const EpisodePoints& points, const LabelGraphOptions& options);

  /// F [b, s + u, n], at least 0, from labels [b, s + u, n].
  [[nodiscard]] at::Tensor propagate(const at::Tensor& labels) const;
  /// F [b, q, n] of queries that are no points of the graph: alpha W F, by their nearest points (Delalleau et al.,
  /// AISTATS 2005). For an episode without a pool simply the queries' rows.
  [[nodiscard]] at::Tensor of_queries(const at::Tensor& f) const;

 private:
  at::Tensor inverse_;     // (I - alpha W)^-1, [b, s + u, s + u]
  at::Tensor to_queries_;  // alpha W of the queries, [b, q, s + u]; undefined: the queries are the unlabelled images
  int64_t supports_;
};

}  // namespace protocom
