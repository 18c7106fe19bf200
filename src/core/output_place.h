#pragma once
#include <sys/types.h>

#include <filesystem>

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

/// Throws Error when nothing can be written there: a folder, a name that is none, links in a circle.
OutputPlace output_place(const std::filesystem::path& path);

}  // namespace protocom
