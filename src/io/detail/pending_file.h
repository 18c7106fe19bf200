#pragma once
#include <sys/types.h>

#include <filesystem>

#include "io/unfinished.h"

namespace protocom {

/// The actual destination of an output.
struct OutputPlace {
  std::filesystem::path path;  ///< after resolving links
  bool is_stream = false;      ///< a pipe or a device: it is written to, never replaced
  bool exists = false;
  mode_t mode = 0;  ///< permissions of the existing file
  uid_t owner = 0;
  gid_t group = 0;
};

/// A new empty file to be moved to `path`, for write_file_with and write_together. Removed if that does not happen. All
/// members throw Error.
class PendingFile {
 public:
  explicit PendingFile(const std::filesystem::path& path);

  /// Where to write it.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_.path(); }

  /// Syncs the content to the disk.
  void finish();
  /// Moves it to its place.
  void put();

 private:
  std::filesystem::path path_;
  OutputPlace place_;
  UnfinishedPath temporary_;
};

}  // namespace protocom
