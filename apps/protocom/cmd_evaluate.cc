#include <charconv>
#include <optional>

#include "cli.h"
#include "job.h"
#include "protocom/eval/alignment.h"
#include "protocom/eval/evaluate.h"
#include "protocom/eval/evaluate_shared.h"
#include "protocom/eval/predictions.h"
#include "protocom/eval/results.h"

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
  std::string predictions;
  std::string episodes_file;
  std::string save_episodes;
  std::vector<std::string> methods = default_methods();
  std::vector<std::string> compare;
  std::vector<std::string> k_shot = {"1", "5"};
  EpisodeShape shape;
  std::string query_distribution = std::string(to_string(EpisodeShape().query_distribution));
  int64_t episodes = 600;
  uint64_t seed = 1;
  std::vector<uint64_t> seeds;
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

/// The lists of one shape, one a seed.
struct Task {
  EpisodeShape shape;
  std::vector<EpisodeList> lists;
  std::vector<SeedScores> scores;
};

int64_t parse_shots(const std::string& text, const std::string& whole) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_usage("--k-shot takes numbers or ranges such as 1,5 or 1-5, found '{}'", whole);
  return value;
}

/// "5", or "1-5" for classes of one to five shots.
EpisodeShape with_shots(EpisodeShape shape, const std::string& text) {
  const size_t dash = text.find('-');
  shape.k_shot = parse_shots(text.substr(0, dash), text);
  if (dash != std::string::npos) shape.most_shots = parse_shots(text.substr(dash + 1), text);
  return shape;
}

std::vector<Task> draw_tasks(const Options& options, const FeatureSet& features) {
  if (!options.episodes_file.empty()) {
    EpisodeList list = read_episodes(options.episodes_file, features);
    const EpisodeShape shape = list.shape;
    return {{shape, {std::move(list)}, {}}};
  }
  const auto seeds = options.seeds.empty() ? std::vector<uint64_t>{options.seed} : options.seeds;
  std::vector<Task> tasks;
  for (const auto& shots : options.k_shot) {
    tasks.push_back({with_shots(options.shape, shots), {}, {}});
    for (const uint64_t seed : seeds) {
      tasks.back().lists.push_back(
          sample_episodes(features, parse_split(options.split), tasks.back().shape, options.episodes, seed));
    }
  }
  return tasks;
}

/// "mean:gauss-fusion" -> how much better mean is than gauss-fusion; several pairs are separated by commas, and a
/// single pair may be written with a comma.
std::vector<MethodPair> parse_pairs(const std::vector<std::string>& texts) {
  if (texts.size() == 2 && texts[0].find(':') == std::string::npos && texts[1].find(':') == std::string::npos)
    return {{parse_method(texts[0]), parse_method(texts[1])}};
  std::vector<MethodPair> pairs;
  for (const auto& text : texts) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
      fail_usage("--compare takes two methods a,b or pairs a:b,c:d; found '{}'", fmt::join(texts, ","));
    pairs.emplace_back(parse_method(text.substr(0, colon)), parse_method(text.substr(colon + 1)));
  }
  return pairs;
}

/// The entry of `differences` for a method against the class mean, if there is one.
const nlohmann::json* gain_of(const nlohmann::json& differences, const nlohmann::json& method) {
  for (const auto& row : differences) {
    if (row["method"] == method && row["baseline"] == "mean") return &row;
  }
  return nullptr;
}

std::string points(const nlohmann::json& value) { return fmt::format("{:.2f}", value.get<double>()); }

std::string plus_minus(const nlohmann::json& row, const char* field) {
  return fmt::format("{} +- {}", signed_text(row[field].get<double>(), 2), points(row["ci95"]));
}

/// What was found, as it goes into the JSON.
struct Findings {
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json differences = nlohmann::json::array();
  ProtocolChecks checks;
  std::vector<std::vector<std::string>> table = {
      {"task", "method", "accuracy %", "+-", "gain over mean", "cosine", "mode"}};
  std::vector<std::vector<std::string>> compared = {{"task", "method", "less", "difference", "better in", "worse in"}};
  std::vector<std::vector<std::string>> by_seed = {{"task", "seed"}};
};

void add_lines(const std::string& task, const nlohmann::json& results, const nlohmann::json& differences,
               Findings& found) {
  for (const auto& row : results) {
    const auto method = row["method"].get<std::string>();
    const nlohmann::json* gain = gain_of(differences, row["method"]);
    found.table.push_back({task, method, points(row["accuracy"]), points(row["ci95"]),
                           gain == nullptr ? "" : plus_minus(*gain, "difference"),
                           fmt::format("{:.3f}", row["cosine"].get<double>()), row["mode"].get<std::string>()});
  }
  for (const auto& row : differences) {
    if (row["baseline"] == "mean") continue;
    found.compared.push_back({task, row["method"].get<std::string>(), row["baseline"].get<std::string>(),
                              plus_minus(row, "difference"), fmt::format("{:.0f} %", row["better"].get<double>()),
                              fmt::format("{:.0f} %", row["worse"].get<double>())});
  }
}

/// One line a seed, one column a method.
void add_seed_lines(const std::string& task, const nlohmann::json& results, Findings& found) {
  if (results.empty() || !results[0].contains("per_seed")) return;
  auto& header = found.by_seed.front();
  if (header.size() == 2) {
    for (const auto& row : results) header.push_back(row["method"].get<std::string>());
  }
  for (size_t i = 0; i < results[0]["per_seed"].size(); ++i) {
    std::vector<std::string> line = {task, results[0]["per_seed"][i]["seed"].dump()};
    for (const auto& row : results) {
      const auto& part = row["per_seed"][i];
      line.push_back(fmt::format("{} +- {}", points(part["accuracy"]), points(part["ci95"])));
    }
    found.by_seed.push_back(std::move(line));
  }
}

void add_findings(const Task& task, const std::vector<MethodPair>& pairs, Findings& found) {
  const auto results = results_json(task.shape, task.scores);
  const auto differences = differences_json(task.shape, task.scores, pairs);
  add_lines(describe(task.shape), results, differences, found);
  add_seed_lines(describe(task.shape), results, found);
  found.results.insert(found.results.end(), results.begin(), results.end());
  found.differences.insert(found.differences.end(), differences.begin(), differences.end());
}

void print_findings(const Findings& found) {
  print_table(found.table);
  for (const auto* table : {&found.compared, &found.by_seed}) {
    if (table->size() == 1) continue;
    fmt::print("\n");
    print_table(*table);
  }
  fmt::print(
      "\nchecked: {} episodes ({} images) without an image twice or of another split or class; {} predictions "
      "unchanged by the order of the queries\n",
      found.checks.episodes, found.checks.rows, found.checks.permuted_queries);
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

nlohmann::json episodes_json(const std::vector<Task>& tasks, const FeatureSet& features) {
  nlohmann::json out = nlohmann::json::array();
  for (const Task& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      nlohmann::json row = shape_json(list.shape);
      row["seed"] = list.seed;
      row["episodes"] = list.episodes.size();
      row["hash"] = list.hash(features);
      out.push_back(std::move(row));
    }
  }
  return out;
}

void write_json(const CLI::App& command, const Options& options, const FeatureSet& features,
                const std::vector<Task>& tasks, const Findings& found) {
  Provenance provenance = provenance_of(command, tasks.front().lists.front().seed);
  provenance.inputs["features"] = features.content_hash;
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "model", options.model);
  add_input(provenance, "class-split", options.class_split);
  add_input(provenance, "episodes", options.episodes_file);
  const nlohmann::json episodes = episodes_json(tasks, features);
  std::vector<std::string> hashes;
  for (const auto& list : episodes) hashes.push_back(list["hash"].get<std::string>());
  const nlohmann::json inputs = provenance.inputs;
  write_file(options.json, nlohmann::json{{"header", make_header("results", 1, provenance).to_json()},
                                          {"dataset", dataset_json(options, features, tasks.front().lists.front())},
                                          {"command", command_line(command)},
                                          {"hashes", inputs},
                                          {"episodes_hash", fmt::format("{}", fmt::join(hashes, " "))},
                                          {"episode_lists", episodes},
                                          {"checks", found.checks.to_json()},
                                          {"results", found.results},
                                          {"differences", found.differences}}
                               .dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void check_outputs(const Options& options) {
  for (const auto& path : {options.json, options.predictions, options.save_episodes}) {
    if (!path.empty()) check_writable(path);
  }
  if (!options.save_episodes.empty() && (options.k_shot.size() > 1 || options.seeds.size() > 1))
    fail_usage("--save-episodes writes one list: give a single --k-shot and a single seed");
}

void run_evaluate(const CLI::App& command, Options& options) {
  options.evaluate.methods.clear();
  for (const auto& name : options.methods) options.evaluate.methods.push_back(parse_method(name));
  const auto pairs = pairs_to_compare(options.evaluate.methods, parse_pairs(options.compare));
  options.shape.query_distribution = parse_query_distribution(options.query_distribution);
  if (!options.predictions.empty()) options.evaluate.predictions = KeepPredictions::kYes;
  if (job().leads()) check_outputs(options);
  const Inputs inputs = read_inputs(options);
  auto tasks = draw_tasks(options, inputs.features);
  if (job().leads() && !options.save_episodes.empty())
    write_episodes(options.save_episodes, tasks.front().lists.front(), inputs.features);

  Findings found;
  std::string predictions = predictions_csv_header();
  for (Task& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      CheckedScores scores =
          evaluate_shared(inputs.features, list, inputs.model ? &*inputs.model : nullptr,
                          inputs.classes ? &*inputs.classes : nullptr, options.evaluate, job(), progress());
      found.checks.add(scores.checks);
      task.scores.push_back({list.seed, std::move(scores.methods)});
    }
    add_findings(task, pairs, found);
    if (!options.predictions.empty()) append_predictions_csv(task.shape, task.scores, inputs.features, predictions);
    for (SeedScores& seed : task.scores) {
      for (MethodScores& method : seed.methods) method.predictions = {};
    }
  }
  if (!job().leads()) return;
  print_findings(found);
  if (!options.predictions.empty()) write_file(options.predictions, predictions);
  if (!options.json.empty()) write_json(command, options, inputs.features, tasks, found);
}

void add_evaluate_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "evaluate", "Accuracy on few-shot episodes, with intervals",
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --json out.json\n"
      "protocom evaluate --features features.npz --methods mean --k-shot 1\n"
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --k-shot 1-5 \\\n"
      "    --query-distribution dirichlet --seeds 1,2,3 --compare gauss-fusion,mean-fusion");
  command->add_option("--features", options->features, "Features (npz, or npy with --class-split)")->required();
  command->add_option("--knowledge", options->knowledge, "Knowledge file");
  command->add_option("--model", options->model, "Completion model");
  command->add_option("--methods", options->methods, "mean, completed, mean-fusion, gauss-fusion")->delimiter(',');
  command->add_option("--split", options->split, "Classes the episodes are drawn from: base, val or novel");
  command->add_option("--class-split", options->class_split, "Split that replaces the features' own (CSV class,split)");
  command->add_option("--n-way", options->shape.n_way, "Classes an episode");
  command
      ->add_option("--k-shot", options->k_shot,
                   "Labelled images a class; a list evaluates each, a range such as 1-5 draws each class's number")
      ->delimiter(',');
  command->add_option("--n-query", options->shape.n_query, "Queries a class");
  auto* unlabelled =
      command->add_option("--unlabelled", options->shape.unlabelled,
                          "Images a class of an unlabelled pool that GaussFusion uses instead of the queries");
  auto* distribution = command->add_option(
      "--query-distribution", options->query_distribution,
      "balanced, or dirichlet: as many queries, of classes in proportions drawn from Dirichlet(alpha)");
  auto* alpha =
      command->add_option("--alpha", options->shape.alpha, "Of the Dirichlet distribution; small is unbalanced");
  command->add_option("--episodes", options->episodes, "Episodes");
  auto* seed = command->add_option("--seed", options->seed, "Seed of the episodes");
  auto* seeds = command->add_option("--seeds", options->seeds, "Several seeds: figures of all together and of each")
                    ->delimiter(',')
                    ->excludes(seed);
  command->add_option("--scale", options->evaluate.fusion.scale, "Lambda of GaussFusion (equation 12)");
  command
      ->add_option("--compare", options->compare,
                   "Two methods a,b (or pairs a:b,c:d) to compare on the same episodes, besides each with mean")
      ->delimiter(',');
  command->add_option("--episodes-file", options->episodes_file, "Run these episodes (JSON) instead of drawing some")
      ->excludes(unlabelled)
      ->excludes(distribution)
      ->excludes(alpha)
      ->excludes(seeds);
  command->add_option("--save-episodes", options->save_episodes, "Write the drawn episodes (JSON), for other programs");
  command->add_option("--predictions", options->predictions, "Write every method's answer to every query (CSV)");
  command->add_option("--json", options->json, "Write every figure and the accuracy of every episode");
  command->callback([command, options] { run_evaluate(*command, *options); });
}

const Command kRegister{Order::kEvaluate, &add_evaluate_command};

}  // namespace
}  // namespace protocom::cli
