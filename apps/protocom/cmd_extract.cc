#include "cli.h"
#include "dataset_options.h"
#include "job.h"
#include "protocom/features/extract.h"

namespace protocom::cli {
namespace {

struct Options {
  DatasetOptions source;
  std::string backbone, out, maps;
  int64_t image_size = 0;
  BackboneOptions bare;
  ExtractOptions extract;
  std::string precision{to_string(extract.precision)};
};

/// A pack decides the size; a folder is packed at the size the backbone expects, unless --image-size says otherwise.
PackedImages images_for(const Backbone& backbone, const Options& options, Provenance& provenance) {
  const bool pack = std::filesystem::is_regular_file(options.source.images);
  const int64_t size = options.image_size > 0 || pack ? options.image_size : backbone.image_size();
  PackedImages images = load_images(options.source, size, provenance);
  if (images.image_size() != backbone.image_size()) {
    logger().warn("the backbone expects images of {0}x{0} pixels, these are {1}x{1}", backbone.image_size(),
                  images.image_size());
  }
  return images;
}

void write(FeatureSet features, const Options& options, const Provenance& provenance) {
  if (!job().is_main()) return;
  features.backbone_hash = provenance.inputs.at("backbone");
  write_features(options.out, features, provenance);
  print_table({{"features", fmt::format("{} x {}", features.size(), features.dim())}, {"file", options.out}});
}

void write_maps(Backbone& backbone, const PackedImages& images, const Options& options, const Provenance& provenance) {
  ExtractOptions extract = options.extract;
  extract.scratch_folder = std::filesystem::absolute(options.maps).parent_path();
  FeatureMaps maps = extract_feature_maps(backbone, images, extract, progress());
  maps.backbone_hash = provenance.inputs.at("backbone");
  write_feature_maps(options.maps, maps, provenance);
  print_table({{"feature maps", fmt::format("{}", fmt::join(maps.maps.sizes(), " x "))}, {"file", options.maps}});
}

void run_extract(const CLI::App& command, Options& options) {
  options.extract.precision = parse_precision(options.precision);
  if (options.image_size > 0) options.bare.image_size = options.image_size;
  options.extract.group = &job();
  if (options.out.empty() && options.maps.empty()) fail_usage("there is nothing to write: give --out, --maps or both");
  for (const std::string& path : {options.out, options.maps}) {
    if (job().is_main() && !path.empty()) check_writable(path);
  }
  Provenance provenance = provenance_of(command, /*seed=*/0);
  add_input(provenance, "backbone", options.backbone);
  const auto backbone = read_backbone(options.backbone, options.bare);
  const PackedImages images = images_for(*backbone, options, provenance);
  if (!options.out.empty())
    write(extract_features(*backbone, images, options.extract, progress()), options, provenance);
  if (!options.maps.empty()) write_maps(*backbone, images, options, provenance);
}

void add_extract_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "extract", "Compute the features of all images",
                                  "protocom extract --images images.pack --backbone backbone.npz --out features.npz");
  add_dataset_options(*command, options->source, "Pack (protocom pack), or folder of images");
  command
      ->add_option("--backbone", options->backbone,
                   "Backbone of protocom pretrain, state dict (.npz, .safetensors), or TorchScript file (a program: "
                   "load only what you would also run)")
      ->required();
  command->add_option("--out", options->out, "Features to write (npz)");
  command->add_option("--maps", options->maps,
                      "Feature maps to write (safetensors, float16), for methods that look at places of an image");
  command->add_option("--image-size", options->image_size,
                      "Side of the images, pixels; 0: the pack's, or the backbone's");
  command->add_option("--architecture", options->bare.architecture,
                      "Of a bare state dict: resnet12, resnet12-wide or conv4");
  command->add_option("--batch", options->extract.batch, "Images a forward pass");
  command->add_option("--precision", options->precision, "auto, float32 or bfloat16");
  command->add_option("--device", options->extract.device, "auto, cpu or cuda");
  command->callback([command, options] { run_extract(*command, *options); });
}

const Command kRegister{Order::kExtract, &add_extract_command};

}  // namespace
}  // namespace protocom::cli
