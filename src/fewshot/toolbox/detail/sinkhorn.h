#pragma once
#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

struct SinkhornOptions {
  /// Stops when no row's sum changes by more from step to step, each episode by itself: PT-MAP's rule. Classes so far
  /// apart that every entry between them is nearly 0 meet it before the columns have their sums.
  double tolerance = 1e-6;
  int64_t most_steps = 1000;
};

/// Entropic optimal transport by Sinkhorn and Knopp: the plan P = diag(r) exp(logits) diag(exp(s)) whose rows sum to 1
/// and whose columns sum to `columns`. `logits` [b, u, n], `columns` [b, n], at least 0; a column of 0 gets nothing.
/// Gives s, float32 [b, n]: a row of P is softmax(logits + s), so s also answers for points that took no part.
/// `rows` [b, u], 1 or 0, leaves rows out; undefined: all take part.
at::Tensor sinkhorn(const at::Tensor& logits, const at::Tensor& columns, const SinkhornOptions& options = {},
                    const at::Tensor& rows = {});

/// [b, n]: u / n each, the columns of queries that are balanced over the classes.
at::Tensor balanced_columns(const at::Tensor& logits);

/// Logits [b, m, n] of all points so that their softmax has the rows of the plan that balances the unlabelled ones.
at::Tensor transported(const EpisodePoints& points, const at::Tensor& logits);

}  // namespace protocom
