#pragma once
#include <sys/types.h>

#include <filesystem>

#include "io/unfinished.h"

namespace protocom {

/// Where an output really goes.
struct OutputPlace {
  std::filesystem::path path;  ///< behind all links
  bool is_stream = false;      ///< a pipe or a device: it is written to, never replaced
  bool exists = false;
  mode_t mode = 0;  ///< permissions of the file that is there
  uid_t owner = 0;
  gid_t group = 0;
};

/// A new empty file on its way to `path`, for write_file_with and write_together. Where it never gets there, it is
/// removed. All throw Error.
class PendingFile {
 public:
  explicit PendingFile(const std::filesystem::path& path);

  /// Where it is to be written.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_.path(); }

  /// What was written is on the disk then.
  void finish();
  /// Puts it in its place.
  void put();

 private:
  std::filesystem::path path_;
  OutputPlace place_;
  UnfinishedPath temporary_;
};

}  // namespace protocom
