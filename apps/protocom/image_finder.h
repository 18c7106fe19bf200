#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "protocom/data/packed_images.h"

namespace protocom::cli {

/// Finds the images of features in a pack or a folder by their ids.
class ImageFinder {
 public:
  /// An empty path finds nothing. Throws Error for a path that is not there.
  explicit ImageFinder(const std::filesystem::path& source);

  /// A small square JPEG of the image in base64, or "" when there is no image of that id or it cannot be read. In a
  /// folder an id is the end of the image's path; an end that fits several images finds none.
  [[nodiscard]] std::string thumbnail(const std::string& image_id) const;

 private:
  std::optional<PackedImages> pack_;
  std::map<std::string, int64_t> rows_;                // of the pack
  std::map<std::string, std::filesystem::path> ends_;  // every end of a path; empty where it is ambiguous
};

}  // namespace protocom::cli
