#include "image_source.h"

#include "cli.h"

namespace protocom::cli {
namespace {

const int64_t kDefaultSize = PackOptions{}.image_size;

PackedImages load_pack(const ImageSource& source, int64_t image_size, Provenance& provenance) {
  if (!source.split.empty() || !source.standard_split.empty() || source.layout != "auto") {
    fail_usage("{} is a pack and brings its own split and layout: leave out --split, --standard-split and --layout, or pack anew", source.images);
  }
  PackedImages images = read_pack(source.images);
  if (image_size > 0 && image_size != images.image_size()) {
    fail_usage("{0} holds images of {1}x{1} pixels, not {2}x{2}: pack them with --image-size {2}", source.images, images.image_size(), image_size);
  }
  provenance.inputs["images"] = images.content_hash;
  return images;
}

}  // namespace

void add_image_source(CLI::App& command, ImageSource& source) {
  command.add_option("--images", source.images, "Pack (protocom pack) or folder of images")->required();
  command.add_option("--layout", source.layout, "Of a folder: auto, folder, tiny-imagenet, cub, mini-imagenet, ilsvrc");
  command.add_option("--split", source.split, "Of a folder: CSV class,split or prefix of -base.txt, -val.txt, -novel.txt");
  command.add_option("--standard-split", source.standard_split, "Of a folder: cub, mini-imagenet or tiered-imagenet");
}

PackedImages load_images(const ImageSource& source, int64_t image_size, Provenance& provenance) {
  if (std::filesystem::is_regular_file(source.images)) return load_pack(source, image_size, provenance);
  ImageDatasetOptions dataset;
  dataset.layout = parse_layout(source.layout);
  if (!source.split.empty()) dataset.split = source.split;
  dataset.standard_split = source.standard_split;
  PackOptions pack;
  pack.image_size = image_size > 0 ? image_size : kDefaultSize;
  PackedImages images = pack_images(list_images(source.images, dataset), pack, progress());
  provenance.inputs["images"] = images.content_hash;
  return images;
}

}  // namespace protocom::cli
