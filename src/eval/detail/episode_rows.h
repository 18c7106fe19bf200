#pragma once
#include <vector>

#include "datasets/episodes.h"
#include "fewshot/scorer_group.h"

namespace protocom {

/// Whether two episodes have equally many classes, queries and unlabelled images, so that they fit into one batch.
bool same_shape(const Episode& a, const Episode& b);

/// Appends the rows of all groups, one group after the other.
void append(const std::vector<std::vector<int64_t>>& groups, std::vector<int64_t>& rows);

/// Returns episodes of a list, of one shape, as rows. The seed of an episode is derived from the list's and its number.
RowBatch rows_of(const EpisodeList& list, const std::vector<size_t>& numbers);

/// Returns the rows of the images of a split, class by class: int64 [m]; undefined if there are none.
std::vector<int64_t> rows_of(const FeatureSet& features, Split split);

/// Returns the features of those rows; undefined arrays if there are none.
LabelledFeatures features_of(const FeatureSet& features, Split split);

}  // namespace protocom
