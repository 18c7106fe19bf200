#pragma once
#include "datasets/episodes.h"

namespace protocom::testing {

/// Returns a shape with everything that may be special about a task.
inline EpisodeShape ragged_dirichlet() {
  EpisodeShape shape{5, 1, 6};
  shape.most_shots = 4;
  shape.unlabelled = 3;
  shape.query_distribution = QueryDistribution::kDirichlet;
  shape.alpha = 1;
  return shape;
}

}  // namespace protocom::testing
