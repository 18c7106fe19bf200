#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "images/image_files.h"
#include "io/memory_file.h"

namespace protocom::cli {

/// Images as they were named on the command line, with the names on the standard input, a line each or ended by a zero
/// byte, in place of "-". Throws UsageError if an image comes there, Error if nothing does.
std::vector<std::string> with_listed(const std::vector<std::string>& images);

/// The same, but "-" may also be one image that is piped in.
class ImageArguments {
 public:
  explicit ImageArguments(const std::vector<std::string>& images);

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  /// Whether one was piped in.
  [[nodiscard]] bool has_piped() const { return piped_ != nullptr; }
  /// What answers call one of the paths: "-" the image that was piped in.
  [[nodiscard]] std::filesystem::path named(const std::filesystem::path& path) const;

 private:
  std::vector<std::string> paths_;
  std::unique_ptr<MemoryFile> piped_;
};

/// How many of them are folders: without an image, or that cannot be listed.
size_t folders_among(const std::vector<UnreadableFile>& unreadable);

/// Says which images could not be read and how many files are not images, after the others were answered. `unreadable`:
/// of found.paths. Throws Error when there is an image that could not be read.
void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable);

}  // namespace protocom::cli
