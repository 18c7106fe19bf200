#pragma once
#include "datasets/episodes.h"
#include "datasets/feature_set.h"

namespace protocom {

/// Checks the features that episodes use; those of a large file are checked only when used (io/mapped_rows.h). Throws
/// Error for a row of the episodes that is not finite. Does nothing for features that were checked when they were read.
void check_used_rows(const FeatureSet& features, const EpisodeList& episodes);

/// Checks all rows of features that were taken from `features`.
void check_taken_rows(const FeatureSet& features, const Array& taken);

}  // namespace protocom
