#pragma once
#include <cstdint>
#include <vector>

#include "datasets/feature_set.h"
#include "datasets/packed_images.h"

namespace protocom {

/// Returns the rows of the images of a split, in order; at most the first `per_class` of each class, all of them if it
/// is 0.
std::vector<int64_t> rows_of_split(const PackedImages& images, Split split, int64_t per_class);

/// Returns these rows as packed images of their own (the pixels are copied); class names and splits stay.
PackedImages subset(const PackedImages& images, const std::vector<int64_t>& rows);

/// Returns labels, classes and ids of the images as a feature set without features: enough to draw episodes from.
FeatureSet without_features(const PackedImages& images);

}  // namespace protocom
