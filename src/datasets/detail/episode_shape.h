#pragma once
#include "datasets/episodes.h"

namespace protocom {

/// Returns the most shots a class may have.
int64_t most_shots(const EpisodeShape& shape);

/// Throws UsageError for a task that cannot be drawn from any data.
void check_shape(const EpisodeShape& shape);

}  // namespace protocom
