#include "trainers/detail/image_subset.h"

namespace protocom {

std::vector<int64_t> rows_of_split(const PackedImages& images, Split split, int64_t per_class) {
  std::vector<int64_t> taken(images.class_names.size(), 0);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < images.size(); ++row) {
    const auto label = static_cast<size_t>(images.labels[static_cast<size_t>(row)]);
    if (images.class_split[label] != split || (per_class > 0 && taken[label] == per_class)) continue;
    ++taken[label];
    rows.push_back(row);
  }
  return rows;
}

PackedImages subset(const PackedImages& images, const std::vector<int64_t>& rows) {
  PackedImages part;
  part.pixels = images.pixels.gathered(rows);
  part.class_names = images.class_names;
  part.class_split = images.class_split;
  for (const int64_t row : rows) {
    part.labels.push_back(images.labels[static_cast<size_t>(row)]);
    part.image_ids.push_back(images.image_ids[static_cast<size_t>(row)]);
  }
  return part;
}

FeatureSet without_features(const PackedImages& images) {
  FeatureSet set;
  set.labels = images.labels;
  set.class_names = images.class_names;
  set.class_split = images.class_split;
  set.image_ids = images.image_ids;
  return set;
}

}  // namespace protocom
