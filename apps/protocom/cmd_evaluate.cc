#include <optional>

#include "cli.h"
#include "protocom/eval/alignment.h"
#include "protocom/eval/evaluate.h"

namespace protocom::cli {
namespace {

std::vector<std::string> default_methods() {
  std::vector<std::string> names;
  for (const Method method : all_methods()) names.emplace_back(to_string(method));
  return names;
}

struct Options {
  std::string features;
  std::string knowledge;
  std::string model;
  std::string class_split;
  std::string split = "novel";
  std::string json;
  std::string episodes_file;
  std::string save_episodes;
  std::vector<std::string> methods = default_methods();
  std::vector<int64_t> k_shot = {1, 5};
  EpisodeShape shape;
  int64_t episodes = 600;
  uint64_t seed = 1;
  EvaluateOptions evaluate;
};

/// What an evaluation reads.
struct Inputs {
  FeatureSet features;
  std::optional<CompletionModel> model;
  std::optional<ClassKnowledge> classes;
};

Inputs read_inputs(const Options& options) {
  FeatureFileOptions file_options;
  if (!options.class_split.empty()) file_options.split = options.class_split;
  Inputs inputs{read_features(options.features, file_options), {}, {}};
  if (options.model.empty() != options.knowledge.empty())
    fail_usage("--model and --knowledge go together: give both or neither");
  if (options.model.empty()) return inputs;
  inputs.model = read_completion_model(options.model);
  inputs.classes =
      align_knowledge(read_knowledge(options.knowledge), inputs.features.class_names, inputs.model->attributes);
  return inputs;
}

std::vector<EpisodeList> episode_lists(const Options& options, const FeatureSet& features) {
  if (!options.episodes_file.empty()) return {read_episodes(options.episodes_file, features)};
  std::vector<EpisodeList> lists;
  for (const int64_t k_shot : options.k_shot) {
    EpisodeShape shape = options.shape;
    shape.k_shot = k_shot;
    lists.push_back(sample_episodes(features, parse_split(options.split), shape, options.episodes, options.seed));
  }
  return lists;
}

void print_results(const nlohmann::json& results) {
  std::vector<std::vector<std::string>> rows = {{"task", "method", "accuracy %", "+-", "gain", "cosine", "mode"}};
  double mean_accuracy = 0;
  for (const auto& row : results) {
    const auto accuracy = row["accuracy"].get<double>();
    if (row["method"] == "mean") mean_accuracy = accuracy;
    rows.push_back({fmt::format("{}-way {}-shot", row["n_way"].get<int64_t>(), row["k_shot"].get<int64_t>()),
                    row["method"].get<std::string>(), fmt::format("{:.2f}", accuracy),
                    fmt::format("{:.2f}", row["ci95"].get<double>()),
                    mean_accuracy > 0 ? fmt::format("{:+.2f}", accuracy - mean_accuracy) : "",
                    fmt::format("{:.3f}", row["cosine"].get<double>()), row["mode"].get<std::string>()});
  }
  print_table(rows);
}

nlohmann::json dataset_json(const Options& options, const FeatureSet& features, const EpisodeList& list) {
  return {{"features", options.features},
          {"features_hash", features.content_hash},
          {"split", to_string(list.split)},
          {"classes", features.classes_of(list.split).size()}};
}

/// The command as it would be typed, with the options that were given.
std::string command_line(const CLI::App& command) {
  std::string text = "protocom " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    text += fmt::format(" {} {}", option->get_name(), fmt::join(option->results(), ","));
  }
  return text;
}

void run_evaluate(const CLI::App& command, Options& options) {
  options.evaluate.methods.clear();
  for (const auto& name : options.methods) options.evaluate.methods.push_back(parse_method(name));
  if (!options.json.empty()) check_writable(options.json);
  if (!options.save_episodes.empty() && options.k_shot.size() > 1)
    fail_usage("--save-episodes writes one list: give a single --k-shot");
  const Inputs inputs = read_inputs(options);
  const auto lists = episode_lists(options, inputs.features);
  if (!options.save_episodes.empty()) write_episodes(options.save_episodes, lists.front(), inputs.features);

  nlohmann::json results = nlohmann::json::array();
  std::vector<std::string> hashes;
  for (const auto& list : lists) {
    const auto methods = evaluate(inputs.features, list, inputs.model ? &*inputs.model : nullptr,
                                  inputs.classes ? &*inputs.classes : nullptr, options.evaluate, progress());
    for (auto& row : results_json(list.shape, methods)) results.push_back(std::move(row));
    if (!options.json.empty()) hashes.push_back(list.hash(inputs.features));
  }
  print_results(results);
  if (options.json.empty()) return;
  Provenance provenance = provenance_of(command, options.seed);
  add_input(provenance, "features", options.features);
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "model", options.model);
  add_input(provenance, "episodes", options.episodes_file);
  write_file(options.json, nlohmann::json{{"header", make_header("results", 1, provenance).to_json()},
                                          {"dataset", dataset_json(options, inputs.features, lists.front())},
                                          {"command", command_line(command)},
                                          {"episodes_hash", fmt::format("{}", fmt::join(hashes, " "))},
                                          {"results", results}}
                               .dump(1));
}

void add_evaluate_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "evaluate", "Accuracy on few-shot episodes, with intervals",
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --json out.json\n"
      "protocom evaluate --features features.npz --methods mean --k-shot 1");
  command->add_option("--features", options->features, "Features (npz, or npy with --class-split)")->required();
  command->add_option("--knowledge", options->knowledge, "Knowledge file");
  command->add_option("--model", options->model, "Completion model");
  command->add_option("--methods", options->methods, "mean, completed, mean-fusion, gauss-fusion")->delimiter(',');
  command->add_option("--split", options->split, "Classes the episodes are drawn from: base, val or novel");
  command->add_option("--class-split", options->class_split, "Split that replaces the features' own (CSV class,split)");
  command->add_option("--n-way", options->shape.n_way, "Classes an episode");
  command->add_option("--k-shot", options->k_shot, "Labelled images a class; a list evaluates each")->delimiter(',');
  command->add_option("--n-query", options->shape.n_query, "Queries a class");
  command->add_option("--episodes", options->episodes, "Episodes");
  command->add_option("--seed", options->seed, "Seed of the episodes");
  command->add_option("--scale", options->evaluate.fusion.scale, "Lambda of GaussFusion (equation 12)");
  command->add_option("--episodes-file", options->episodes_file, "Run these episodes (JSON) instead of drawing some");
  command->add_option("--save-episodes", options->save_episodes, "Write the drawn episodes (JSON), for other programs");
  command->add_option("--json", options->json, "Write every figure and the accuracy of every episode");
  command->callback([command, options] { run_evaluate(*command, *options); });
}

const Command kRegister{Order::kEvaluate, &add_evaluate_command};

}  // namespace
}  // namespace protocom::cli
