#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace protocom {

/// The kinds of images that are read, for messages: "JPEG, PNG, ... or BMP".
std::string image_kinds();

/// True for names with a suffix of such a kind, in any case, that do not begin with a dot, and are no thumbnails that a
/// storage box puts beside photos (SYNOFILE_THUMB_M.jpg).
bool is_image_name(const std::filesystem::path& path);

/// True for folders that hold no photos of their own: hidden ones (a dot before the name), and those that storage
/// boxes, archivers and file systems keep for themselves (@eaDir, #recycle, __MACOSX, lost+found, ...), whose
/// thumbnails and deleted files look like photos.
bool is_left_out_folder(const std::filesystem::path& folder);

/// Files of a folder that were not taken as images, counted by why.
struct SkippedFiles {
  /// ".txt", "hidden", "without a suffix", "broken link", "in a hidden folder", "in @eaDir", "beside the class folders"
  /// (images),
  /// ".txt beside the class folders", "linking to a folder above", "linking to a folder counted already" -> files
  std::map<std::string, int64_t> counts;

  /// Counts a file that is_image_name or a walk refused.
  void add(const std::filesystem::path& file);
  /// Counts a file that lies beside the folders of classes, unless it is hidden.
  void add_beside_classes(const std::filesystem::path& file);
  /// Counts all files below a folder that no walk enters.
  void add_left_out_folder(const std::filesystem::path& folder);
  void add(const SkippedFiles& others);
  [[nodiscard]] int64_t total() const;
  /// "12 files are left out: 9 .txt, 2 hidden, 1 without a suffix"; empty for none.
  [[nodiscard]] std::string describe() const;
};

}  // namespace protocom
