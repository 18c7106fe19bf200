#pragma once
#include <filesystem>
#include <optional>

#include "protocom/episode.h"

namespace protocom::v0 {

/// How to read features that protocom did not write.
struct FeatureFileOptions {
  std::optional<std::filesystem::path> labels;  ///< of a features `.npy`; else those beside it
  /// Replaces the file's own split (see read_split); classes that are not in it are ignored with a warning.
  std::optional<std::filesystem::path> split;
  /// The split of all classes if neither the file nor `split` has one; nothing: that is an Error.
  std::optional<Split> without_split = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::FeatureFileOptions;
}  // namespace protocom
