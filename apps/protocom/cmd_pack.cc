#include "cli.h"
#include "dataset_options.h"
#include "datasets/packed_images.h"

namespace protocom::cli {
namespace {

struct PackArguments {
  DatasetOptions dataset;
  std::string out, save_split, preprocess;
  PackOptions pack;
};

std::string scratch_beside(const std::filesystem::path& out) {
  return out.has_parent_path() ? out.parent_path().string() : ".";
}

/// Adds the split's file, or the three lists of a prefix.
void add_split(Provenance& provenance, const std::string& split) {
  if (split.empty() || std::filesystem::exists(split)) return add_input(provenance, "split", split);
  for (const char* side : {"base", "val", "novel"}) {
    const std::string list = fmt::format("{}-{}.txt", split, side);
    if (std::filesystem::exists(list)) add_input(provenance, fmt::format("split-{}", side), list);
  }
}

void run_pack(const CLI::App& command, PackArguments& options) {
  if (!options.preprocess.empty()) {
    const Preprocessing sizes = parse_preprocessing(options.preprocess);
    options.pack.image_size = sizes.image_size;
    options.pack.resize = sizes.resize;
    options.pack.resampling = sizes.resampling;
    options.pack.squeeze = sizes.squeeze;
  }
  check_writable(options.out);
  if (!options.save_split.empty()) check_writable(options.save_split);
  const ImageDataset dataset = list_images(options.dataset.images, options.dataset.to_library());
  Provenance provenance = provenance_of(command, 0);
  add_input(provenance, "images", options.dataset.images);
  add_split(provenance, options.dataset.split);
  // The pixels are kept in a file beside the result, so that a dataset larger than the memory can be packed.
  options.pack.strict = options.dataset.strict;
  options.pack.scratch_folder = scratch_beside(options.out);
  const PackedImages images = pack_images(dataset, options.pack, progress());
  write_pack(options.out, images, provenance);
  if (!options.save_split.empty()) write_file(options.save_split, split_csv(images.class_names, images.class_split));
  const auto unreadable = static_cast<int64_t>(dataset.items.size()) - images.size();
  print_table(
      {{"images", std::to_string(images.size())},
       {"unreadable, skipped", std::to_string(unreadable)},
       {"other files", dataset.skipped.total() == 0 ? "0" : dataset.skipped.describe()},
       {"classes", std::to_string(images.class_names.size())},
       {"pixels", fmt::format("{0} x {0} of a shorter side of {1}", images.image_size(), images.shorter_side())},
       {"content hash", images.content_hash},
       {"written", options.out}});
}

void add_pack_command(CLI::App& app) {
  auto options = std::make_shared<PackArguments>();
  CLI::App* command =
      add_command(app, "pack", "Decode images once into one memory-mapped file",
                  "protocom pack photos --split split.csv --out photos.pack\n"
                  "  protocom pack ILSVRC2012 --standard-split mini-imagenet --image-size 84 --out mini.pack");
  add_dataset_options(*command, options->dataset, "Folder of the images");
  add_strict(*command, options->dataset);
  add_output_option(*command, "--out", options->out, "File to write")->required();
  add_output_option(*command, "--save-split", options->save_split,
                    "Also write the classes' split as CSV class,split, for protocom knowledge");
  CLI::Option* size = command->add_option("--image-size", options->pack.image_size,
                                          "Side of the square images, pixels: resized, then the centre is cut out");
  command
      ->add_option("--preprocess", options->preprocess,
                   "Sizes that an encoder expects: imagenet (shorter side 256, crop 224), clip, half, plain:size=64; "
                   "the encoder normalises later")
      ->excludes(size);
  command->callback([command, options] { run_pack(*command, *options); });
}

const Command kPack{Group::kDataSets, 40, &add_pack_command};

}  // namespace
}  // namespace protocom::cli
