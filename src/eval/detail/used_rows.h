#pragma once
#include "datasets/episodes.h"
#include "datasets/feature_set.h"

namespace protocom {

/// Features of a large file are checked where they are used (io/mapped_rows.h). Throws Error for a row of
/// the episodes that cannot be computed with. Does nothing for features that were checked when they were read.
void check_used_rows(const FeatureSet& features, const EpisodeList& episodes);

/// The same of all rows of some features that were taken from `features`.
void check_taken_rows(const FeatureSet& features, const Array& taken);

}  // namespace protocom
