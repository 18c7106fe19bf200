#include "protocom/data/image_finder.h"

#include "protocom/core/error.h"
#include "protocom/data/image_files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

void add_ends(const fs::path& path, const fs::path& root, std::map<std::string, fs::path>& ends) {
  std::string id = path.lexically_relative(root).generic_string();
  while (true) {
    const auto [place, is_new] = ends.emplace(id, path);
    if (!is_new) place->second.clear();
    const size_t slash = id.find('/');
    if (slash == std::string::npos) return;
    id.erase(0, slash + 1);
  }
}

Image image_of(const PackedImages& pack, int64_t row) {
  const int64_t size = pack.image_size();
  const uint8_t* first = pack.pixels.data_ptr<uint8_t>() + row * size * size * 3;
  return {size, size, {first, first + size * size * 3}};
}

}  // namespace

ImageFinder::ImageFinder(const fs::path& source) {
  if (source.empty()) return;
  if (fs::is_directory(source)) {
    for (const fs::path& path : find_images({source.string()}).paths) add_ends(path, source, ends_);
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
      return resize_and_crop(image_of(*pack_, row->second), side);
    }
    const auto end = ends_.find(image_id);
    if (end == ends_.end() || end->second.empty()) return std::nullopt;
    return read_square_image(end->second, side);
  } catch (const Error&) {
    return std::nullopt;  // a picture that cannot be read leaves its box empty
  }
}

}  // namespace protocom
