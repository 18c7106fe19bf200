#include <algorithm>
#include <vector>

#include "cli.h"
#include "dataset_options.h"
#include "datasets/feature_preprocessing.h"
#include "encoders/extract.h"
#include "encoders/installed_encoders.h"
#include "encoders/preprocessing_trial.h"
#include "eval/statistics.h"
#include "job.h"

namespace protocom::cli {
namespace {

/// The value of `extract --preprocess` that compares presets.
inline constexpr const char* kCompare = "compare";

double mean_of(const PreprocessingTrial& trial) { return estimate(trial.right).value; }

std::string cell(const Estimate& points) { return fmt::format("{:.1f} ± {:.1f}", points.value, points.ci95); }

/// Prints trials on the same images side by side, and the preset that they favour, if there is one.
void print_comparison(const std::vector<PreprocessingTrial>& trials) {
  const auto best = std::max_element(trials.begin(), trials.end(),
                                     [](const auto& a, const auto& b) { return mean_of(a) < mean_of(b); });
  std::vector<std::vector<std::string>> rows = {{"--preprocess", "images", "right, %", "less than the best"}};
  std::vector<std::string> level = {best->preset};
  for (const PreprocessingTrial& trial : trials) {
    const Estimate behind = paired_difference(best->right, trial.right);
    const bool is_best = &trial == &*best;
    rows.push_back(
        {trial.preset, describe(trial.preprocessing), cell(estimate(trial.right)), is_best ? "" : cell(behind)});
    if (!is_best && behind.value <= behind.ci95) level.push_back(trial.preset);
  }
  print_table(rows);
  fmt::print(
      "\n{} images of base classes, each classified by the nearest mean of the other images (cosine of centred "
      "features).\n",
      best->right.size());
  if (level.size() == 1)
    fmt::print("Most are right with --preprocess {}.\n", best->preset);
  else
    fmt::print("On these images {} are equally good: see what the encoder was trained with.\n", fmt::join(level, ", "));
}

struct ExtractArguments {
  DatasetOptions source;
  std::string backbone, out, maps;
  int64_t image_size = 0;
  EncoderFileOptions asked;
  std::string preprocess;
  ExtractOptions extract;
};

bool is_packed(const ExtractArguments& options) { return std::filesystem::is_regular_file(options.source.images); }

/// Loads the images: a pack determines the sizes; a folder is resized to the encoder's input, or to --image-size.
PackedImages images_for(const Encoder& encoder, const ExtractArguments& options, Provenance& provenance) {
  Preprocessing sizes = encoder.preprocessing();
  if (options.image_size > 0) sizes = at_size(sizes, options.image_size);
  if (is_packed(options)) sizes = {options.image_size};
  PackedImages images = load_images(options.source, sizes, provenance);
  warn_of_sizes(encoder, images);
  return images;
}

/// Returns the encoder's normalisation, for images with the sizes of the pack.
Preprocessing taken(const Encoder& encoder, const PackedImages& images) {
  Preprocessing preprocessing = encoder.preprocessing();
  preprocessing.image_size = images.image_size();
  preprocessing.resize = images.resize;
  preprocessing.squeeze = images.squeeze;
  return preprocessing;
}

void write(FeatureSet features, const Preprocessing& preprocessing, const ExtractArguments& options,
           const Provenance& provenance) {
  if (!job().is_main()) return;
  features.backbone_hash = provenance.inputs.at("backbone");
  write_features(options.out, features, provenance, preprocessing);
  print_table({{"features", fmt::format("{} x {}", features.size(), features.dim())},
               {"images", describe(preprocessing)},
               {"file", options.out}});
}

void write_maps(Encoder& encoder, const PackedImages& images, const ExtractArguments& options,
                const Provenance& provenance) {
  ExtractOptions extract = options.extract;
  extract.scratch_folder = std::filesystem::absolute(options.maps).parent_path();
  FeatureMaps maps = extract_feature_maps(encoder, images, extract, progress());
  maps.backbone_hash = provenance.inputs.at("backbone");
  write_feature_maps(options.maps, maps, provenance);
  print_table({{"feature maps", fmt::format("{}", fmt::join(maps.maps.shape(), " x "))}, {"file", options.maps}});
}

/// Runs `--preprocess compare`, which writes nothing.
void compare(const ExtractArguments& options) {
  constexpr int64_t kUsualSize = 224;
  if (is_packed(options))
    fail_usage("--preprocess {} needs the folder of photos, {} is a pack", kCompare, options.source.images);
  PreprocessingTrials trials;
  trials.architecture = options.asked.architecture;
  trials.output = options.asked.output;
  trials.presets = common_presets(options.image_size > 0 ? options.image_size : kUsualSize);
  trials.extract = options.extract;
  const ImageDataset dataset = list_images(options.source);
  print_comparison(try_preprocessing(options.backbone, dataset, trials, progress()));
}

void run_extract(const CLI::App& command, ExtractArguments& options) {
  options.asked.engine = engine();  // of --engine, which is not parsed yet when the options are made
  options.backbone = chosen_encoder(options.backbone).string();
  if (options.preprocess == kCompare) {
    compare(options);
    return;
  }
  if (!options.preprocess.empty()) options.asked.preprocessing = parse_preprocessing(options.preprocess);
  options.asked.known_size = options.image_size > 0 ? options.image_size
                             : is_packed(options)   ? read_pack(options.source.images).image_size()
                                                    : 0;
  options.extract.group = &job();
  if (options.out.empty() && options.maps.empty()) fail_usage("there is nothing to write: give --out, --maps or both");
  for (const std::string& path : {options.out, options.maps}) {
    if (job().is_main() && !path.empty()) check_writable(path);
  }
  Provenance provenance = provenance_of(command, /*seed=*/0);
  provenance.inputs["backbone"] = hash_encoder(options.backbone, options.asked);
  const auto encoder = open_encoder(options.backbone, options.asked);
  freeze_for(*encoder, options.extract);
  const PackedImages images = images_for(*encoder, options, provenance);
  if (!options.out.empty())
    write(extract_features(*encoder, images, options.extract, progress()), taken(*encoder, images), options,
          provenance);
  if (!options.maps.empty()) write_maps(*encoder, images, options, provenance);
}

void add_extract_command(CLI::App& app) {
  auto options = std::make_shared<ExtractArguments>();
  CLI::App* command = add_command(app, "extract", "Compute the features of all images",
                                  "protocom extract --images images.pack --backbone backbone.npz --out features.npz\n"
                                  "protocom extract --images photos --split split.csv --backbone encoder.pt "
                                  "--preprocess compare");
  add_dataset_options(*command, options->source, "Pack (protocom pack), or folder of images");
  add_strict(*command, options->source);
  add_box_options(*command, options->source.boxes);
  add_input_option(*command, "--backbone", options->backbone, kBackboneHelp);
  command->add_option("--output", options->asked.output, kOutputHelp);
  add_output_option(*command, "--out", options->out, "Features to write (npz)");
  add_output_option(*command, "--maps", options->maps,
                    "Feature maps to write (safetensors, float16), for methods that use them");
  command->add_option("--image-size", options->image_size,
                      "Side of the images, pixels; 0: the pack's, or the backbone's");
  command->add_option("--preprocess", options->preprocess,
                      fmt::format("{}; {}: try them on 200 base images and print the best, without writing",
                                  kPreprocessHelp, kCompare));
  command->add_option(
      "--architecture", options->asked.architecture,
      "Architecture of a bare state dict, if its names leave it open: resnet12, resnet12-wide or conv4");
  command->add_option("--batch", options->extract.batch, "Images per forward pass");
  add_word(*command, "--precision", options->extract.precision, &parse_precision, "auto, float32 or bfloat16");
  command->add_option("--device", options->extract.device, "auto, cpu or cuda");
  command->callback([command, options] { run_extract(*command, *options); });
}

const Command kExtract{Group::kDataSets, 60, &add_extract_command};

}  // namespace
}  // namespace protocom::cli
