#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "images/image_files.h"
#include "io/memory_file.h"

namespace protocom::cli {

/// Returns images as named on the command line, with "-" replaced by the names on the standard input, one per line or
/// ended by a zero byte. Throws UsageError if an image comes there, Error if nothing does.
std::vector<std::string> with_listed(const std::vector<std::string>& images);

/// Images as named on the command line, where "-" may also be one image that is piped in.
class ImageArguments {
 public:
  explicit ImageArguments(const std::vector<std::string>& images);

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  /// Whether an image was piped in.
  [[nodiscard]] bool has_piped() const { return piped_ != nullptr; }
  /// Returns the name of a path in answers: "-" for the image that was piped in.
  [[nodiscard]] std::filesystem::path named(const std::filesystem::path& path) const;

 private:
  std::vector<std::string> paths_;
  std::unique_ptr<MemoryFile> piped_;
};

/// Returns how many of them are folders: without an image, or that cannot be listed.
size_t folders_among(const std::vector<UnreadableFile>& unreadable);

/// Reports unreadable images and the number of files that are not images, after the others were answered. `unreadable`:
/// of found.paths. Throws Error if there is an unreadable image.
void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable);

}  // namespace protocom::cli
