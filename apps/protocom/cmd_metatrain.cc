#include <algorithm>

#include "cli.h"
#include "dataset_options.h"
#include "fewshot/paper/completion_model.h"
#include "job.h"
#include "training/metatrain.h"
#include "training_options.h"

namespace protocom::cli {
namespace {

struct MetatrainArguments {
  DatasetOptions source;
  std::string backbone;
  std::string knowledge;
  std::string model;
  std::string out;
  std::string out_model, preprocess;
  MetatrainOptions metatrain;
  TrainingOptions training;
};

/// Refuses missing and superfluous inputs of the head.
void check_head(MetatrainArguments& options) {
  const MetatrainOptions& recipe = options.metatrain;
  const bool completes = make_method(recipe.head)->spec().has(Need::kCompletionModel);
  if (!completes && !options.out_model.empty())
    fail_usage("--head {} trains no completion model: leave out --out-model", recipe.head);
  if (completes && (options.model.empty() || options.knowledge.empty()))
    fail_usage("--head {} needs --model and --knowledge (--head mean needs neither)", recipe.head);
  if (completes && options.out_model.empty()) options.out_model = options.out + ".model.npz";
}

void print_result(const MetatrainResult& result, const MetatrainFiles& files) {
  std::vector<std::vector<std::string>> facts = {
      {"kept", result.kept_epoch == 0 ? "the initial state, since no epoch was better on val"
                                      : fmt::format("epoch {} of {}", result.kept_epoch, result.epochs.size() - 1)},
      {"backbone", files.training.out.string()}};
  if (!files.model.empty()) facts.push_back({"model", files.model.string()});
  facts.push_back({"log", files.training.log().string()});
  print_table(facts);
  const auto& before = result.epochs.front().validation;
  const auto& after = result.epochs[static_cast<size_t>(result.kept_epoch)].validation;
  if (before.empty() || after.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"validation", "before", "after", "±", ""}};
  for (const ValidationRow& row : after) {
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const auto& item) { return item.method == row.method; });
    rows.push_back({row.method, old == before.end() ? "" : fmt::format("{:.2f}", old->accuracy.value),
                    fmt::format("{:.2f}", row.accuracy.value), fmt::format("{:.2f}", row.accuracy.ci95),
                    std::string(make_method(row.method)->spec().mode())});
  }
  print_table(rows);
}

void run_metatrain(const CLI::App& command, MetatrainArguments& options) {
  check_head(options);
  options.metatrain.group = &job();
  if (job().is_main()) check_writable(options.out);
  if (job().is_main() && !options.out_model.empty()) check_writable(options.out_model);
  MetatrainFiles files;
  files.model = options.out_model;
  Provenance provenance = provenance_of(command, options.metatrain.seed);
  add_input(provenance, "backbone", options.backbone);
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "model", options.model);
  EncoderFileOptions asked;
  asked.engine = Engine::kTorch;  // it is trained
  if (!options.preprocess.empty()) asked.preprocessing = parse_preprocessing(options.preprocess);
  if (std::filesystem::is_regular_file(options.source.images))
    asked.known_size = read_pack(options.source.images).image_size();
  const auto encoder = open_encoder(options.backbone, asked);
  std::optional<CompletionModel> model;
  std::optional<Knowledge> knowledge;
  if (!options.out_model.empty()) {
    model = read_completion_model(options.model);
    knowledge = read_knowledge(options.knowledge);
  }
  const PackedImages images = load_images(options.source, encoder->preprocessing(), provenance);
  warn_of_sizes(*encoder, images);
  files.training = training_files(options.out, options.training, std::move(provenance));
  const MetatrainInputs inputs{images, *encoder, model ? &*model : nullptr, knowledge ? &*knowledge : nullptr};
  print_result(metatrain(inputs, options.metatrain, files, progress()), files);
}

void add_recipe(CLI::App& command, MetatrainArguments& options) {
  MetatrainOptions& recipe = options.metatrain;
  add_recipe_options(command, recipe.schedule, recipe.sgd);
  command.add_option("--head", recipe.head,
                     "Method whose loss is minimised: gauss-fusion (also :scale=20), mean-fusion, completed or mean "
                     "(MetaBaseline); see protocom methods");
  command.add_option("--n-way", recipe.episode.n_way, "Classes per episode");
  command.add_option("--k-shot", recipe.episode.k_shot, "Support images per class");
  command.add_option("--n-query", recipe.episode.n_query, "Queries per class");
  command.add_option("--batches", recipe.batches, "Steps per epoch");
  command.add_option("--episodes", recipe.episodes, "Episodes per step");
  add_word(command, "--schedule", recipe.schedule.shape, &parse_schedule_shape, describe_shapes(recipe.schedule));
  command.add_option("--gamma", recipe.scale, "Scale of the cosine at the start (equation 8); learned");
  add_word(command, "--batch-norm", recipe.batch_norm, &parse_batch_norm_statistics,
           "Statistics while training: running or batch");
  add_word(command, "--statistics", recipe.statistics, &parse_attribute_statistics,
           "Mean and std of attributes in the tuned model: recomputed or kept");
  command.add_option("--crop-padding", recipe.augment.crop_padding,
                     "Border of the random crop, a fraction of the side");
  command.add_option("--colour-jitter", recipe.augment.colour_jitter, "Range of brightness, contrast and saturation");
  command.add_option("--flip-probability", recipe.augment.flip_probability, "Probability of a horizontal flip");
}

void add_metatrain_command(CLI::App& app) {
  auto options = std::make_shared<MetatrainArguments>();
  CLI::App* command = add_command(app, "metatrain", "Tune backbone and completion network together on episodes",
                                  "protocom metatrain --images images.pack --backbone backbone.npz --knowledge "
                                  "knowledge.npz --model model.npz --out joint.npz\n"
                                  "protocom metatrain --head mean --images images.pack --backbone backbone.npz --out "
                                  "metabaseline.npz");
  MetatrainOptions& recipe = options->metatrain;
  add_dataset_options(*command, options->source, "Pack (protocom pack), or folder of images");
  add_strict(*command, options->source);
  add_input_option(*command, "--backbone", options->backbone, "Pre-trained backbone")->required();
  command->add_option("--preprocess", options->preprocess, kPreprocessHelp);
  add_input_option(*command, "--knowledge", options->knowledge, "Knowledge file");
  add_input_option(*command, "--model", options->model, "Completion model (protocom complete)");
  add_output_option(*command, "--out", options->out, "Tuned backbone to write; beside it OUT.last and OUT.jsonl")
      ->required();
  add_output_option(*command, "--out-model", options->out_model,
                    "Tuned completion model to write; default: OUT.model.npz");
  add_recipe(*command, *options);
  add_validation_options(*command, recipe.validation);
  command->add_option("--val-shot", recipe.validation.shape.k_shot, "Shots of the validation episodes");
  add_word(*command, "--precision", recipe.precision, &parse_precision, "auto, float32 or bfloat16");
  command->add_option("--device", recipe.device, "auto, cpu or cuda");
  command->add_option("--seed", recipe.seed, "Seed of episodes and attribute draws");
  add_training_options(*command, options->training);
  command->callback([command, options] { run_metatrain(*command, *options); });
}

const Command kMetatrain{Group::kTraining, 30, &add_metatrain_command};

}  // namespace
}  // namespace protocom::cli
