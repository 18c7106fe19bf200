#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/split.h"

namespace protocom {

/// How classes are divided by default.
struct DivisionOptions {
  /// Classes, 0 too; nothing: 16 % as in the paper's datasets; of few classes 5, or a fifth if less, but 2.
  std::optional<int64_t> val = {};
  /// Classes, 0 too; nothing: 20 % likewise; of few classes 5, or a third if less, but 2.
  std::optional<int64_t> novel = {};
  int64_t fewest_images = 20;  ///< of a val or novel class: 5 to learn from and 15 to be classified
  uint64_t seed = 1;
};

/// Draws the split of classes with these numbers of images [c], the same for the same counts, options and seed; classes
/// of few images become base. Throws Error when fewer than two base classes would be left, or too few classes have
/// images enough; UsageError for negative options.
std::vector<Split> divide_classes(const std::vector<int64_t>& images, const DivisionOptions& options);

}  // namespace protocom
