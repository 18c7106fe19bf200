#include "image_source.h"

namespace protocom::cli {
namespace {

PackedImages load_pack(const DatasetOptions& source, int64_t image_size) {
  if (!source.split.empty() || !source.standard_split.empty() || source.layout != DatasetOptions{}.layout) {
    fail_usage(
        "{} is a pack and brings its own split and layout: leave out --split, --standard-split and --layout, or pack "
        "anew",
        source.images);
  }
  PackedImages images = read_pack(source.images);
  if (image_size > 0 && image_size != images.image_size()) {
    fail_usage("{0} holds images of {1}x{1} pixels, not {2}x{2}: pack them with --image-size {2}", source.images,
               images.image_size(), image_size);
  }
  return images;
}

PackedImages pack_folder(const DatasetOptions& source, int64_t image_size) {
  PackOptions pack;
  if (image_size > 0) pack.image_size = image_size;
  return pack_images(list_images(source.images, source.to_library()), pack, progress());
}

}  // namespace

PackedImages load_images(const DatasetOptions& source, int64_t image_size, Provenance& provenance) {
  const bool is_pack = std::filesystem::is_regular_file(source.images);
  PackedImages images = is_pack ? load_pack(source, image_size) : pack_folder(source, image_size);
  provenance.inputs["images"] = images.content_hash;
  return images;
}

}  // namespace protocom::cli
