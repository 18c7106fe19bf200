#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "datasets/packed_images.h"
#include "images/image.h"

namespace protocom {

/// Finds the images of features in a pack or a folder by their ids.
class ImageFinder {
 public:
  /// An empty path finds nothing. Throws Error for a path that does not exist.
  explicit ImageFinder(const std::filesystem::path& source);

  /// Returns the image with that id, side x side pixels; nothing if there is none or it cannot be read. In a folder an
  /// id is the end of the image's path; an end that matches several images finds none.
  [[nodiscard]] std::optional<Image> find(const std::string& image_id, int64_t side) const;

 private:
  std::optional<PackedImages> pack_;
  std::map<std::string, int64_t> rows_;                // of the pack
  std::map<std::string, std::filesystem::path> ends_;  // every end of a path; empty if it is ambiguous
};

}  // namespace protocom
