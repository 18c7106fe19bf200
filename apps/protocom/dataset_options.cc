#include "dataset_options.h"

namespace protocom::cli {

ImageDatasetOptions DatasetOptions::to_library() const {
  ImageDatasetOptions options;
  options.layout = parse_layout(layout);
  if (!split.empty()) options.split = split;
  options.standard_split = standard_split;
  return options;
}

void add_dataset_options(CLI::App& command, DatasetOptions& options, const std::string& images_help) {
  command.add_option("images,--images", options.images, images_help)->required();
  command.add_option("--layout", options.layout, "auto, folder, tiny-imagenet, cub, mini-imagenet or ilsvrc");
  command.add_option("--split", options.split,
                     "Split of the classes: a CSV class,split or a prefix P of P-base.txt, P-val.txt, P-novel.txt");
  command.add_option("--standard-split", options.standard_split, "cub, mini-imagenet or tiered-imagenet");
}

void add_skip_unreadable(CLI::App& command, DatasetOptions& options) {
  command.add_flag("--skip-unreadable", options.skip_unreadable,
                   "Leave unreadable images of a folder out with a warning instead of stopping");
}

PackedImages load_images(const DatasetOptions& source, const Preprocessing& sizes, Provenance& provenance) {
  PackedImages images =
      protocom::load_images({source.images, source.to_library(), sizes, source.skip_unreadable}, progress());
  provenance.inputs["images"] = images.content_hash;
  return images;
}

}  // namespace protocom::cli
