#pragma once
#include <filesystem>
#include <optional>

#include "protocom/episode.h"

namespace protocom::v0 {

/// Options for reading features that protocom did not write.
struct FeatureFileOptions {
  std::optional<std::filesystem::path> labels;  ///< labels for a features `.npy`; empty: those beside it
  /// Replaces the file's own split (see read_split); classes that are not in it are ignored with a warning.
  std::optional<std::filesystem::path> split;
  /// The split of all classes if neither the file nor `split` has one; if empty, that is an Error.
  std::optional<Split> without_split = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::FeatureFileOptions;
}  // namespace protocom
