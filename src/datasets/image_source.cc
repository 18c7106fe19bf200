#include "datasets/image_source.h"

#include "base/error.h"
#include "base/log.h"
#include "datasets/boxed_dataset.h"

namespace protocom {
namespace {

PackedImages load_pack(const ImageSource& source) {
  const ImageDatasetOptions& dataset = source.dataset;
  if (dataset.split || !dataset.standard_split.empty() || dataset.layout != ImageDatasetOptions{}.layout) {
    fail_usage(
        "{} is a pack with its own split and layout: leave out --split, --standard-split and --layout, or pack again",
        source.path.string());
  }
  if (!source.boxes.file.empty())
    fail_usage("{} is a pack, from which boxes cannot be cut: give the folder of images", source.path.string());
  PackedImages images = read_pack(source.path);
  if (source.sizes.image_size > 0 && source.sizes.image_size != images.image_size()) {
    fail_usage("{0} has images of {1}x{1} pixels, expected {2}x{2}: pack them with --image-size {2}",
               source.path.string(), images.image_size(), source.sizes.image_size);
  }
  return images;
}

PackedImages pack_folder(const ImageSource& source, Progress& progress) {
  PackOptions pack;
  if (source.sizes.image_size > 0) pack.image_size = source.sizes.image_size;
  pack.resize = source.sizes.resize;
  pack.resampling = source.sizes.resampling;
  pack.squeeze = source.sizes.squeeze;
  pack.strict = source.strict;
  const ImageDataset dataset = source.boxes.file.empty() ? list_images(source.path, source.dataset)
                                                         : list_boxed_images(source.path, source.dataset, source.boxes);
  if (dataset.skipped.total() > 0) logger().info("{}: {}", source.path.string(), dataset.skipped.describe());
  return pack_images(dataset, pack, progress);
}

}  // namespace

PackedImages load_images(const ImageSource& source, Progress& progress) {
  return std::filesystem::is_regular_file(source.path) ? load_pack(source) : pack_folder(source, progress);
}

}  // namespace protocom
