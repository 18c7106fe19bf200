#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/duplicates.h"
#include "datasets/image_dataset.h"
#include "datasets/packed_images.h"

namespace protocom {

/// Minimum, median (the lower of two) and maximum of counts or sizes; zeros if there are none.
struct Spread {
  int64_t min = 0;
  int64_t median = 0;
  int64_t max = 0;
};

/// Computes the spread of a sorted copy.
Spread spread_of(std::vector<int64_t> values);

/// One class of an inspected dataset.
struct ClassSummary {
  std::string name;
  std::string title;  ///< display name; may be empty
  Split split = Split::kBase;
  int64_t images = 0;  ///< including unreadable ones
  int64_t unreadable = 0;
};

/// An image that cannot be decoded, and why.
struct ImageFault {
  std::string id;
  std::string reason;
};

/// The result of an inspection.
struct Inspection {
  std::vector<ClassSummary> classes;            ///< in the dataset's order
  Spread width, height;                         ///< pixels, upright, of the readable images
  std::vector<ImageFault> unreadable;           ///< in the dataset's order
  std::vector<DuplicateGroup> duplicates;       ///< worst kind first, then in the dataset's order
  SkippedFiles skipped = {};                    ///< files in the class folders that are not images
  std::vector<std::string> empty_classes = {};  ///< classes left out
  /// Empty, or what is wrong with a pack as a whole (its content differs from its hash).
  std::string damage;

  [[nodiscard]] int64_t images() const;
  [[nodiscard]] int64_t duplicates_of(DuplicateKind kind) const;
  /// Returns the numbers of images of the classes of a split.
  [[nodiscard]] std::vector<int64_t> counts_of(Split split) const;
  /// Whether nothing must be repaired before the dataset is used: no leak, nothing unreadable, no damage.
  [[nodiscard]] bool is_clean() const;
  [[nodiscard]] nlohmann::json to_json() const;
};

/// Decodes every image at full size. An unreadable one is a finding, not an Error.
Inspection inspect_images(const ImageDataset& dataset, Progress& progress);

/// Inspects a pack, and also compares its content with its hash.
Inspection inspect_images(const PackedImages& images, Progress& progress);

}  // namespace protocom
