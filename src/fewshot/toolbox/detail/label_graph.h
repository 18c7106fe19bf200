#pragma once
#include "base/matrix.h"
#include "fewshot/task.h"

namespace protocom {

struct LabelGraphOptions {
  double alpha = 0.8;       ///< share that a point takes from its neighbours, below 1
  int64_t neighbours = 15;  ///< nearest others of each point
  double power = 3;         ///< of the cosine
};

/// Label propagation (Zhou, Bousquet, Lal, Weston, Schoelkopf, NeurIPS 2003) on the graph of Iscen et al. (CVPR 2019):
/// A_ij = max(cos, 0)^power for the nearest j of i, W = D^-1/2 (A + A') D^-1/2, F = (I - alpha W)^-1 Y, over the
/// supports and unlabelled images of a task. In float64.
class LabelGraph {
 public:
  LabelGraph(const Task& task, const LabelGraphOptions& options);

  /// Returns F [s + u, n], at least 0, from labels [s + u, n].
  [[nodiscard]] DoubleMatrix propagate(const DoubleMatrix& labels) const;
  /// Returns F [q, n] of queries that are not points of the graph: alpha W F, by their nearest points (Delalleau et
  /// al., AISTATS 2005). For a task without a pool these are just the queries' rows.
  [[nodiscard]] DoubleMatrix of_queries(const DoubleMatrix& f) const;

 private:
  Eigen::LLT<DoubleMatrix> factor_;  // of I - alpha W: positive definite, as W's eigenvalues lie in [-1, 1]
  DoubleMatrix to_queries_;          // alpha W of the queries, [q, s + u]; empty: the queries are the unlabelled images
  int64_t supports_;
};

/// Returns 1 at the class of each support, else 0, of the supports and unlabelled images: [s + u, n].
DoubleMatrix labels_of(const Task& task);

}  // namespace protocom
