#include "cli.h"
#include "image_source.h"
#include "job.h"
#include "protocom/train/metatrain.h"
#include "training_options.h"

namespace protocom::cli {
namespace {

struct Options {
  DatasetOptions source;
  std::string backbone;
  std::string knowledge;
  std::string model;
  std::string out;
  std::string out_model;
  MetatrainOptions metatrain;
  std::string head{to_string(metatrain.head)};
  std::string schedule{to_string(metatrain.schedule.shape)};
  std::string batch_norm{to_string(metatrain.batch_norm)};
  std::string statistics{to_string(metatrain.statistics)};
  std::string precision{to_string(metatrain.precision)};
  TrainingOptions training;
};

void parse_words(Options& options) {
  MetatrainOptions& recipe = options.metatrain;
  recipe.head = parse_method(options.head);
  recipe.schedule.shape = parse_schedule_shape(options.schedule);
  recipe.batch_norm = parse_batch_norm_statistics(options.batch_norm);
  recipe.statistics = parse_attribute_statistics(options.statistics);
  recipe.precision = parse_precision(options.precision);
  if (recipe.head == Method::kMean && !options.out_model.empty())
    fail_usage("--head mean tunes no completion model: leave --out-model out");
  if (recipe.head != Method::kMean && (options.model.empty() || options.knowledge.empty()))
    fail_usage("--head {} needs --model and --knowledge (--head mean does without)", options.head);
  if (recipe.head != Method::kMean && options.out_model.empty()) options.out_model = options.out + ".model.npz";
}

void print_result(const MetatrainResult& result, const MetatrainFiles& files) {
  std::vector<std::vector<std::string>> facts = {
      {"kept", result.kept_epoch == 0 ? "the state before training: no epoch was better on val"
                                      : fmt::format("epoch {} of {}", result.kept_epoch, result.epochs.size() - 1)},
      {"backbone", files.training.out.string()}};
  if (!files.model.empty()) facts.push_back({"model", files.model.string()});
  facts.push_back({"log", files.training.log().string()});
  print_table(facts);
  const auto& before = result.epochs.front().validation;
  const auto& after = result.epochs[static_cast<size_t>(result.kept_epoch)].validation;
  if (before.empty() || after.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"validation", "before", "after", "+-", ""}};
  for (size_t i = 0; i < after.size(); ++i) {
    const Estimate& accuracy = after[i].accuracy;
    rows.push_back({std::string(to_string(after[i].method)), fmt::format("{:.2f}", before[i].accuracy.value),
                    fmt::format("{:.2f}", accuracy.value), fmt::format("{:.2f}", accuracy.ci95),
                    std::string(mode_of(after[i].method))});
  }
  print_table(rows);
}

void run_metatrain(const CLI::App& command, Options& options) {
  parse_words(options);
  options.metatrain.group = &job();
  if (job().leads()) check_writable(options.out);
  MetatrainFiles files;
  files.model = options.out_model;
  Provenance provenance = provenance_of(command, options.metatrain.seed);
  add_input(provenance, "backbone", options.backbone);
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "model", options.model);
  const auto backbone = read_backbone(options.backbone, {});
  std::optional<CompletionModel> model;
  std::optional<Knowledge> knowledge;
  if (options.metatrain.head != Method::kMean) {
    model = read_completion_model(options.model);
    knowledge = read_knowledge(options.knowledge);
  }
  const PackedImages images = load_images(options.source, backbone->image_size(), provenance);
  files.training = training_files(options.out, options.training, std::move(provenance));
  const MetatrainInputs inputs{backbone.get(), model ? &*model : nullptr, knowledge ? &*knowledge : nullptr};
  print_result(metatrain(images, inputs, options.metatrain, files, progress()), files);
}

void add_recipe(CLI::App& command, Options& options) {
  MetatrainOptions& recipe = options.metatrain;
  add_recipe_options(command, recipe.schedule, recipe.sgd);
  command.add_option(
      "--head", options.head,
      "Prototypes the queries are compared with: gauss-fusion, mean-fusion, completed or mean (MetaBaseline)");
  command.add_option("--n-way", recipe.episode.n_way, "Classes an episode");
  command.add_option("--k-shot", recipe.episode.k_shot, "Support images a class");
  command.add_option("--n-query", recipe.episode.n_query, "Queries a class");
  command.add_option("--batches", recipe.batches, "Steps an epoch");
  command.add_option("--episodes", recipe.episodes, "Episodes a step");
  command.add_option("--schedule", options.schedule, describe_shapes(recipe.schedule));
  command.add_option("--gamma", recipe.scale, "Scale of the cosine at the start (equation 8); learned");
  command.add_option("--scale", recipe.fusion.scale, "Lambda of GaussFusion (equation 12)");
  command.add_option("--batch-norm", options.batch_norm, "Statistics while training: running or batch");
  command.add_option("--statistics", options.statistics, "Attributes' mean and std of the result: recomputed or kept");
  command.add_option("--crop-padding", recipe.augment.crop_padding,
                     "Border of the random crop, a fraction of the side");
  command.add_option("--colour-jitter", recipe.augment.colour_jitter, "Range of brightness, contrast and saturation");
  command.add_option("--flip-probability", recipe.augment.flip_probability, "Probability of a horizontal flip");
}

void add_metatrain_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "metatrain", "Tune backbone and completion network together on episodes",
                                  "protocom metatrain --images images.pack --backbone backbone.npz --knowledge "
                                  "knowledge.npz --model model.npz --out joint.npz\n"
                                  "protocom metatrain --head mean --images images.pack --backbone backbone.npz --out "
                                  "metabaseline.npz");
  MetatrainOptions& recipe = options->metatrain;
  add_dataset_options(*command, options->source, "Pack (protocom pack), or folder of images");
  command->add_option("--backbone", options->backbone, "Pre-trained backbone")->required();
  command->add_option("--knowledge", options->knowledge, "Knowledge file");
  command->add_option("--model", options->model, "Completion model (protocom complete)");
  command->add_option("--out", options->out, "Tuned backbone to write; beside it OUT.last and OUT.jsonl")->required();
  command->add_option("--out-model", options->out_model, "Tuned completion model to write; default: OUT.model.npz");
  add_recipe(*command, *options);
  add_validation_options(*command, recipe.validation);
  command->add_option("--val-shot", recipe.validation.shape.k_shot, "Shots of the validation episodes");
  command->add_option("--precision", options->precision, "auto, float32 or bfloat16");
  command->add_option("--device", recipe.device, "auto, cpu or cuda");
  command->add_option("--seed", recipe.seed, "Seed of episodes and attribute draws");
  add_training_options(*command, options->training);
  command->callback([command, options] { run_metatrain(*command, *options); });
}

const Command kRegister{Order::kMetatrain, &add_metatrain_command};

}  // namespace
}  // namespace protocom::cli
