#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// A file that could not be read and why, in one sentence that names it.
struct UnreadableFile {
  std::filesystem::path path;
  std::string reason;
};

/// Ignored files of a folder, counted by reason.
struct PROTOCOM_API SkippedFiles {
  /// Number of files by reason: ".txt", "hidden", "without a suffix", "broken link", "in a hidden folder", "in @eaDir",
  /// "beside the class folders" (images), ".txt beside the class folders", "linking to a folder above", "linking to a
  /// folder counted already".
  std::map<std::string, int64_t> counts;

  /// Counts a file whose name is not an image's, or that a walk of the folder refused.
  void add(const std::filesystem::path& file);
  /// Counts a file that lies beside the folders of classes, unless it is hidden.
  void add_beside_classes(const std::filesystem::path& file);
  /// Counts all files below a folder that no walk enters.
  void add_left_out_folder(const std::filesystem::path& folder);
  void add(const SkippedFiles& others);
  [[nodiscard]] int64_t total() const;
  /// "12 files are ignored: 9 .txt, 2 hidden, 1 without a suffix", and with videos how to make photos of one; empty for
  /// none.
  [[nodiscard]] std::string describe() const;
};

}  // namespace protocom::v0

namespace protocom {
using v0::SkippedFiles;
using v0::UnreadableFile;
}  // namespace protocom
