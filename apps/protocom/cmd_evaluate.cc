#include <optional>

#include "cli.h"
#include "evaluation_tables.h"
#include "job.h"
#include "protocom/eval/evaluate.h"
#include "protocom/eval/predictions.h"
#include "protocom/eval/task.h"
#include "protocom/fewshot/alignment.h"
#include "protocom/fewshot/fitted_method.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom::cli {
namespace {

struct Options {
  std::string features, knowledge, model, class_split, json, predictions, episodes_file, save_episodes;
  std::vector<std::string> methods = paper_rows();
  std::vector<std::string> fitted, compare;
  TaskOptions tasks;
  std::string split{to_string(tasks.split)};
  std::string query_distribution{to_string(tasks.shape.query_distribution)};
  uint64_t seed = tasks.seeds.front();
  std::vector<uint64_t> seeds;
  Comparisons comparisons;
};

/// What an evaluation reads.
struct Inputs {
  FeatureSet features;
  std::vector<FittedMethod> fitted = {};
  std::optional<Knowledge> knowledge = {};
  std::optional<CompletionModel> model = {};
  std::optional<ClassKnowledge> classes = {};
};

Inputs read_inputs(const Options& options) {
  FeatureFileOptions file_options;
  if (!options.class_split.empty()) file_options.split = options.class_split;
  Inputs inputs{read_features(options.features, file_options)};
  for (const auto& path : options.fitted) {
    inputs.fitted.push_back(read_fitted_method(path));
    if (inputs.fitted.back().feature_dim != inputs.features.dim())
      fail("{} was fitted on features of {} dimensions, these have {}", path, inputs.fitted.back().feature_dim,
           inputs.features.dim());
  }
  if (options.knowledge.empty() && !options.model.empty())
    fail_usage("--model needs --knowledge: a model completes prototypes with what is known of the classes");
  if (!options.knowledge.empty()) inputs.knowledge = read_knowledge(options.knowledge);
  if (options.model.empty()) return inputs;
  inputs.model = read_completion_model(options.model);
  inputs.classes = align_knowledge(*inputs.knowledge, inputs.features.class_names, inputs.model->attributes);
  return inputs;
}

/// "a,b" or "a/b,c/d": how much better a is than b, and c than d. Colons belong to parameters.
std::vector<MethodPair> parse_pairs(const std::vector<std::string>& texts) {
  const auto label = [](const std::string& text) { return make_method(text)->label(); };
  if (texts.size() == 2 && (texts[0] + texts[1]).find('/') == std::string::npos)
    return {{label(texts[0]), label(texts[1])}};
  std::vector<MethodPair> pairs;
  for (const auto& text : texts) {
    const size_t slash = text.find('/');
    if (slash == std::string::npos)
      fail_usage("--compare takes two methods a,b or pairs a/b,c/d; found '{}'", fmt::join(texts, ","));
    pairs.emplace_back(label(text.substr(0, slash)), label(text.substr(slash + 1)));
  }
  return pairs;
}

std::vector<Task> tasks_of(Options& options, const FeatureSet& features) {
  if (!options.episodes_file.empty()) {
    EpisodeList list = read_episodes(options.episodes_file, features);
    const EpisodeShape shape = list.shape;
    return {{shape, {std::move(list)}}};
  }
  options.tasks.split = parse_split(options.split);
  options.tasks.shape.query_distribution = parse_query_distribution(options.query_distribution);
  options.tasks.seeds = options.seeds.empty() ? std::vector<uint64_t>{options.seed} : options.seeds;
  return draw_tasks(features, options.tasks);
}

void check_outputs(const Options& options) {
  for (const auto& path : {options.json, options.predictions, options.save_episodes}) {
    if (!path.empty()) check_writable(path);
  }
  if (!options.save_episodes.empty() && (options.tasks.shots.size() > 1 || options.seeds.size() > 1))
    fail_usage("--save-episodes writes one list: give a single --k-shot and a single seed");
}

void write_json(const CLI::App& command, const Options& options, const FeatureSet& features, const Task& first,
                nlohmann::json findings) {
  const EpisodeList& list = first.lists.front();
  Provenance provenance = provenance_of(command, list.seed);
  provenance.inputs["features"] = features.content_hash;
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "model", options.model);
  add_input(provenance, "class-split", options.class_split);
  add_input(provenance, "episodes", options.episodes_file);
  for (const auto& path : options.fitted) add_input(provenance, std::filesystem::path(path).filename().string(), path);
  findings["hashes"] = provenance.inputs;
  findings["header"] = make_header("results", 1, provenance).to_json();
  findings["command"] = command_line(command);
  findings["dataset"] = {{"features", options.features},
                         {"features_hash", features.content_hash},
                         {"split", to_string(list.split)},
                         {"classes", features.classes_of(list.split).size()}};
  write_file(options.json, findings.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void run_evaluate(const CLI::App& command, Options& options) {
  options.comparisons.pairs = parse_pairs(options.compare);
  make_methods(options.methods);  // a wrong name is said before files are read
  if (job().is_main()) check_outputs(options);
  const Inputs inputs = read_inputs(options);
  EvaluateOptions evaluation;
  evaluation.methods = make_methods(options.methods, inputs.fitted);
  evaluation.group = &job();
  if (!options.predictions.empty()) evaluation.predictions = KeepPredictions::kYes;
  std::vector<std::string> labels;
  for (const auto& method : evaluation.methods) labels.push_back(method->label());
  const auto pairs = pairs_to_compare(labels, options.comparisons);
  auto tasks = tasks_of(options, inputs.features);
  if (job().is_main() && !options.save_episodes.empty())
    write_episodes(options.save_episodes, tasks.front().lists.front(), inputs.features);

  EvaluateInputs read{inputs.features, inputs.model ? &*inputs.model : nullptr,
                      inputs.classes ? &*inputs.classes : nullptr, inputs.knowledge ? &*inputs.knowledge : nullptr};
  for (const auto& one : inputs.fitted)
    read.trained_on.insert(read.trained_on.end(), one.trained_on.begin(), one.trained_on.end());
  ProtocolChecks checks;
  std::string predictions = predictions_csv_header();
  for (Task& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      CheckedScores scores = evaluate_checked(read, list, evaluation, progress());
      checks.add(scores.checks);
      task.scores.push_back({list.seed, std::move(scores.methods)});
    }
    if (options.predictions.empty()) continue;
    append_predictions_csv(task.shape, task.scores, inputs.features, predictions);
    for (SeedScores& seed : task.scores) {
      for (MethodScores& method : seed.methods) method.predictions = {};
    }
  }
  if (!job().is_main()) return;
  nlohmann::json findings = findings_json(inputs.features, tasks, pairs, checks);
  print_findings(findings, options.comparisons.baseline);
  if (!options.predictions.empty()) write_file(options.predictions, predictions);
  if (!options.json.empty()) write_json(command, options, inputs.features, tasks.front(), std::move(findings));
}

void add_methods(CLI::App& command, Options& options) {
  command
      .add_option("--methods", options.methods,
                  "Methods with their parameters, see protocom methods: mean,gauss-fusion:scale=20,simple-shot")
      ->delimiter(',');
  command.add_option("--fitted", options.fitted, "Files of protocom fit, for methods that need fitting")
      ->delimiter(',');
  command.add_option("--baseline", options.comparisons.baseline, "What every other method is compared with");
  command
      .add_option("--compare", options.compare,
                  "Two methods a,b (or pairs a/b,c/d) to compare on the same episodes, besides each with the baseline")
      ->delimiter(',');
}

void add_tasks(CLI::App& command, Options& options) {
  command.add_option("--split", options.split, "Classes the episodes are drawn from: base, val or novel");
  command.add_option("--n-way", options.tasks.shape.n_way, "Classes an episode");
  command
      .add_option("--k-shot", options.tasks.shots,
                  "Labelled images a class; a list evaluates each, a range such as 1-5 draws each class's number")
      ->delimiter(',');
  command.add_option("--n-query", options.tasks.shape.n_query, "Queries a class");
  auto* unlabelled =
      command.add_option("--unlabelled", options.tasks.shape.unlabelled,
                         "Images a class of an unlabelled pool that transductive methods use instead of the queries");
  auto* distribution = command.add_option(
      "--query-distribution", options.query_distribution,
      "balanced, or dirichlet: as many queries, of classes in proportions drawn from Dirichlet(alpha)");
  auto* alpha =
      command.add_option("--alpha", options.tasks.shape.alpha, "Of the Dirichlet distribution; small is unbalanced");
  command.add_option("--episodes", options.tasks.episodes, "Episodes");
  auto* seed = command.add_option("--seed", options.seed, "Seed of the episodes");
  auto* seeds = command.add_option("--seeds", options.seeds, "Several seeds: figures of all together and of each")
                    ->delimiter(',')
                    ->excludes(seed);
  command.add_option("--episodes-file", options.episodes_file, "Run these episodes (JSON) instead of drawing some")
      ->excludes(unlabelled)
      ->excludes(distribution)
      ->excludes(alpha)
      ->excludes(seeds);
  command.add_option("--save-episodes", options.save_episodes, "Write the drawn episodes (JSON), for other programs");
}

void add_evaluate_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "evaluate", "Accuracy on few-shot episodes, with intervals",
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --json out.json\n"
      "protocom evaluate --features features.npz --methods mean,simple-shot,simple-shot:transform=l2n --k-shot 1\n"
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --k-shot 1-5 \\\n"
      "    --query-distribution dirichlet --seeds 1,2,3 --compare gauss-fusion,mean-fusion");
  command->add_option("--features", options->features, "Features (npz, or npy with --class-split)")->required();
  command->add_option("--knowledge", options->knowledge, "Knowledge file");
  command->add_option("--model", options->model, "Completion model");
  command->add_option("--class-split", options->class_split, "Split that replaces the features' own (CSV class,split)");
  add_methods(*command, *options);
  add_tasks(*command, *options);
  command->add_option("--predictions", options->predictions, "Write every method's answer to every query (CSV)");
  command->add_option("--json", options->json, "Write every figure and the accuracy of every episode");
  command->callback([command, options] { run_evaluate(*command, *options); });
}

const Command kRegister{Order::kEvaluate, &add_evaluate_command};

}  // namespace
}  // namespace protocom::cli
