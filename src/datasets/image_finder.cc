#include "datasets/image_finder.h"

#include "base/error.h"
#include "images/folder_walk.h"
#include "images/image_files.h"

namespace protocom {
namespace fs = std::filesystem;

ImageFinder::ImageFinder(const fs::path& source) {
  if (source.empty()) return;
  if (fs::is_directory(source)) {
    for (const fs::path& path : find_images({source.string()}).paths)
      add_ends(path.lexically_relative(source).generic_string(), path, ends_);
    return;
  }
  pack_ = read_pack(source);
  for (size_t i = 0; i < pack_->image_ids.size(); ++i) rows_.emplace(pack_->image_ids[i], static_cast<int64_t>(i));
}

std::optional<Image> ImageFinder::find(const std::string& image_id, int64_t side) const {
  try {
    if (pack_) {
      const auto row = rows_.find(image_id);
      if (row == rows_.end()) return std::nullopt;
      return resize_and_crop(pack_->image(row->second), {side});
    }
    const auto end = ends_.find(image_id);
    if (end == ends_.end() || end->second.empty()) return std::nullopt;
    return read_square_image(end->second, {side});
  } catch (const Error&) {
    return std::nullopt;  // an unreadable picture leaves its box empty
  }
}

}  // namespace protocom
