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

/// The smallest, the middle (the lower one of two) and the largest of some counts or sizes; zeros when there are none.
struct Spread {
  int64_t min = 0;
  int64_t median = 0;
  int64_t max = 0;
};

/// Sorts a copy.
Spread spread_of(std::vector<int64_t> values);

/// One class of an inspected dataset.
struct ClassSummary {
  std::string name;
  std::string title;  ///< display name; may be empty
  Split split = Split::kBase;
  int64_t images = 0;  ///< all of them, the unreadable too
  int64_t unreadable = 0;
};

/// An image that cannot be decoded, and why.
struct ImageFault {
  std::string id;
  std::string reason;
};

/// What inspecting found.
struct Inspection {
  std::vector<ClassSummary> classes;            ///< in the dataset's order
  Spread width, height;                         ///< pixels, upright, of the readable images
  std::vector<ImageFault> unreadable;           ///< in the dataset's order
  std::vector<DuplicateGroup> duplicates;       ///< the worst kind first, then the dataset's order
  SkippedFiles skipped = {};                    ///< files in the classes' folders that are not images
  std::vector<std::string> empty_classes = {};  ///< left out
  /// Empty, or what is wrong with a pack as a whole (its content differs from its hash).
  std::string damage;

  [[nodiscard]] int64_t images() const;
  [[nodiscard]] int64_t duplicates_of(DuplicateKind kind) const;
  /// The numbers of images of the classes of a split.
  [[nodiscard]] std::vector<int64_t> counts_of(Split split) const;
  /// True when nothing must be repaired before the dataset is used: no leak, nothing unreadable, no damage.
  [[nodiscard]] bool is_clean() const;
  [[nodiscard]] nlohmann::json to_json() const;
};

/// Decodes every image at full size. An unreadable one is a finding, not an Error.
Inspection inspect_images(const ImageDataset& dataset, Progress& progress);

/// The same for a pack, whose content is also compared with its hash.
Inspection inspect_images(const PackedImages& images, Progress& progress);

}  // namespace protocom
