#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/split.h"

namespace protocom {

/// Options for dividing classes.
struct DivisionOptions {
  /// Number of classes, may be 0; empty: 16 % as in the paper's datasets; for few classes 5, or a fifth if less, but at
  /// least 2.
  std::optional<int64_t> val = {};
  /// Number of classes, may be 0; empty: 20 % likewise; for few classes 5, or a third if less, but at least 2.
  std::optional<int64_t> novel = {};
  int64_t fewest_images = 20;  ///< in a val or novel class: 5 to learn from and 15 to classify
  uint64_t seed = 1;
};

/// Draws the split of classes with these numbers of images [c], deterministic given counts, options and seed; classes
/// with few images become base. Throws Error if fewer than two base classes would be left, or too few classes have
/// enough images; UsageError for negative options.
std::vector<Split> divide_classes(const std::vector<int64_t>& images, const DivisionOptions& options);

}  // namespace protocom
