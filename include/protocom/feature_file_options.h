#pragma once
#include <filesystem>
#include <optional>

#include "protocom/episode.h"

namespace protocom::v0 {

/// How to read features that protocom did not write.
struct FeatureFileOptions {
  std::optional<std::filesystem::path> labels;  ///< of a features `.npy`; else those beside it
  /// Replaces the file's own split (see read_split); classes that it does not name are left out with a warning.
  std::optional<std::filesystem::path> split;
  /// What all classes are if neither the file nor `split` says it; nothing: that is an Error.
  std::optional<Split> without_split = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::FeatureFileOptions;
}  // namespace protocom
