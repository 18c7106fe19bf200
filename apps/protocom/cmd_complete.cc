#include "cli.h"
#include "datasets/feature_preprocessing.h"
#include "training/complete.h"
#include "training/completion_gain.h"
#include "training_options.h"

namespace protocom::cli {
namespace {

struct CompleteArguments {
  std::string features;
  std::string knowledge;
  std::string split;
  std::string out;
  CompleteRecipe complete;
  TrainingOptions training;
};

nlohmann::json history_json(const std::vector<CompleteEpoch>& epochs) {
  nlohmann::json history = nlohmann::json::array();
  for (const auto& epoch : epochs) {
    nlohmann::json entry = {{"epoch", epoch.epoch}, {"loss", epoch.loss}};
    for (const auto& result : epoch.validation) entry["validation"][result.method] = estimate(result.accuracy).value;
    history.push_back(std::move(entry));
  }
  return history;
}

const std::vector<MethodScores>& kept_validation(const CompletionTraining& result) {
  return result.epochs[static_cast<size_t>(result.kept_epoch - 1)].validation;
}

void print_result(const CompletionTraining& result, const std::string& gain) {
  const auto& validation = kept_validation(result);
  print_table(
      {{"attributes", std::to_string(result.model.attributes.size())},
       {"kept epoch", fmt::format("{} of {}", result.kept_epoch, result.epochs.size())},
       {"loss of that epoch", fmt::format("{:.5f}", result.epochs[static_cast<size_t>(result.kept_epoch - 1)].loss)}});
  std::vector<std::vector<std::string>> rows = {{"validation", "accuracy", "±", "cosine", ""}};
  for (const auto& row : validation) {
    const Estimate accuracy = estimate(row.accuracy);
    rows.push_back({row.method, fmt::format("{:.2f}", accuracy.value), fmt::format("{:.2f}", accuracy.ci95),
                    fmt::format("{:.3f}", estimate(row.cosine).value), row.mode});
  }
  if (rows.size() > 1) print_table(rows);
  if (!gain.empty()) fmt::print("{}\n", gain);
}

void run_complete(const CLI::App& command, const CompleteArguments& options) {
  check_writable(options.out);
  FeatureFileOptions file_options;
  if (!options.split.empty()) file_options.split = options.split;
  file_options.without_split = Split::kBase;
  const FeatureSet features = read_features(options.features, file_options);
  const Knowledge knowledge = read_knowledge(options.knowledge);
  Provenance provenance = provenance_of(command, options.complete.seed);
  add_input(provenance, "features", options.features);
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "split", options.split);
  const TrainingFiles files = training_files(options.out, options.training, std::move(provenance));
  const CompletionTraining result = train_completion({features, knowledge}, options.complete, files, progress());
  nlohmann::json details = preprocessing_details(options.features);
  details.update({{"kept_epoch", result.kept_epoch}, {"history", history_json(result.epochs)}});
  const std::string gain = completion_gain_sentence(kept_validation(result), options.complete.validation.shape.k_shot);
  if (!gain.empty()) details["findings"] = nlohmann::json::array({gain});
  write_completion_model(options.out, result.model, files.provenance, details);
  print_result(result, gain);
}

void add_complete_command(CLI::App& app) {
  auto options = std::make_shared<CompleteArguments>();
  CompleteRecipe& recipe = options->complete;
  CLI::App* command =
      add_command(app, "complete", "Learn to complete prototypes on the base classes",
                  "protocom complete --features features.npz --knowledge knowledge.npz --out model.npz");
  add_input_option(*command, "--features", options->features, "Features of all splits (npz, or npy with --split)")
      ->required();
  add_input_option(*command, "--knowledge", options->knowledge, "Knowledge file")->required();
  add_input_option(*command, "--split", options->split, "Split to use in place of the features' own (CSV class,split)");
  add_output_option(*command, "--out", options->out, "Model to write; beside it OUT.last and OUT.jsonl")->required();
  add_recipe_options(*command, recipe.schedule, recipe.sgd);
  command->add_option("--batches", recipe.batches, "Steps per epoch");
  command->add_option("--batch", recipe.batch, "Prototypes per step");
  command->add_option("--k-shot", recipe.k_shot, "Images averaged into each incomplete prototype");
  command->add_option("--feature-rms", recipe.feature_rms,
                      "Root mean square to which training scales the features; 0: unscaled");
  add_word(*command, "--centring", recipe.centring, &parse_centring,
           "Whether training subtracts the mean of the base classes from features: auto (if most of a feature is that "
           "mean, as with general encoders), always or never");
  command->add_option("--code-dim", recipe.code_dim, "Width of the encoder");
  command->add_option("--attention-hidden", recipe.attention_hidden, "Hidden width of the aggregator");
  command->add_option("--decoder-hidden", recipe.decoder_hidden, "Hidden width of the decoder");
  add_validation_options(*command, recipe.validation);
  command->add_option("--val-shot", recipe.validation.shape.k_shot, "Shots of the validation episodes");
  add_list_option(
      *command, "--val-methods", recipe.selection_methods,
      "Methods of the paper (mean, completed, mean-fusion, gauss-fusion) whose mean accuracy chooses the epoch");
  add_word(*command, "--keep", recipe.keep, &parse_keep, "best (by validation) or last");
  command->add_option("--seed", recipe.seed, "Seed of weights, tasks and validation episodes");
  add_training_options(*command, options->training);
  command->callback([command, options] { run_complete(*command, *options); });
}

const Command kComplete{Group::kTraining, 20, &add_complete_command};

}  // namespace
}  // namespace protocom::cli
