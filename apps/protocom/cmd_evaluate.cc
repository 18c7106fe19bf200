#include "base/json_text.h"
#include "cli.h"
#include "eval/results_json.h"
#include "eval/speed.h"
#include "evaluation_inputs.h"
#include "job.h"
#include "report/methods.h"
#include "task_options.h"

namespace protocom::cli {
namespace {

using nlohmann::json;
using Table = std::vector<std::vector<std::string>>;

std::string points(const json& value) { return fmt::format("{:.2f}", value.get<double>()); }

std::string plus_minus(const json& row, const char* field) {
  return fmt::format("{} ± {}", signed_text(row.at(field).get<double>(), 2), points(row.at("ci95")));
}

std::string task_of(const json& row) { return describe(shape_from_json(row)); }

/// Returns the difference between a result and the baseline, if there is one.
std::string gain_of(const json& differences, const json& result, const std::string& baseline) {
  for (const json& row : differences) {
    if (row["method"] == result["method"] && row["baseline"] == baseline && task_of(row) == task_of(result))
      return plus_minus(row, "difference");
  }
  return "";
}

/// Returns the mode, and the method's assumption about the queries.
std::string mode_of(const json& row) {
  const auto mode = row["mode"].get<std::string>();
  const std::string assumes = method_assumes(row["method"].get<std::string>());
  return assumes.empty() ? mode : mode + ", " + assumes;
}

void print_accuracies(const json& findings, const std::string& baseline) {
  Table table = {{"task", "method", "accuracy %", "±", "gain over " + baseline, "cosine", "mode", "episodes/s"}};
  const bool timed = findings["results"].front().contains("episodes_per_second");
  if (!timed) table.front().pop_back();
  for (const json& row : findings["results"]) {
    table.push_back({task_of(row), row["method"], points(row["accuracy"]), points(row["ci95"]),
                     gain_of(findings["differences"], row, baseline),
                     row.contains("cosine") ? fmt::format("{:.3f}", row["cosine"].get<double>()) : "", mode_of(row)});
    if (timed) table.back().push_back(fmt::format("{:.0f}", row["episodes_per_second"].get<double>()));
  }
  print_table(table);
}

void print_comparisons(const json& findings, const std::string& baseline) {
  Table table = {{"task", "method", "less", "difference", "better in", "worse in"}};
  for (const json& row : findings["differences"]) {
    if (row["baseline"] == baseline) continue;
    table.push_back({task_of(row), row["method"], row["baseline"], plus_minus(row, "difference"),
                     fmt::format("{:.0f} %", row["better"].get<double>()),
                     fmt::format("{:.0f} %", row["worse"].get<double>())});
  }
  if (table.size() == 1) return;
  fmt::print("\n");
  print_table(table);
}

/// Prints one line per task, seed and method.
void print_seeds(const json& findings) {
  Table table = {{"task", "method", "seed", "accuracy %", "±"}};
  for (const json& row : findings["results"]) {
    for (const json& part : row.value("per_seed", json::array()))
      table.push_back(
          {task_of(row), row["method"], json_text(part["seed"]), points(part["accuracy"]), points(part["ci95"])});
  }
  if (table.size() == 1) return;
  fmt::print("\n");
  print_table(table);
}

/// Prints the result of findings_json(): a table of accuracies with the gains over `baseline`, other comparisons, one
/// line per seed, and the checks.
void print_findings(const json& findings, const std::string& baseline) {
  print_accuracies(findings, baseline);
  print_comparisons(findings, baseline);
  print_seeds(findings);
  const json& checks = findings["checks"];
  const auto copies = checks["disjoint"].value("copies", int64_t{0});
  fmt::print(
      "\nchecked: {} episodes ({} images): no image appears twice{}, every class is of the split and new to the model; "
      "{} predictions unchanged by the order of the queries\n",
      json_text(checks["disjoint"]["episodes"]), json_text(checks["disjoint"]["rows"]),
      copies == 0 ? "" : fmt::format(" (but {} of the split have exactly the features of another one)", copies),
      json_text(checks["permutation"]["predictions"]));
}

struct EvaluateArguments {
  std::string json, predictions, save_episodes;
  bool speed = false;
  std::vector<std::string> methods;
  TaskOptions tasks;
  Comparisons comparisons;
};

/// Parses "a,b" or "a/b,c/d": how much better a is than b, and c than d. Colons belong to parameters.
std::vector<MethodPair> parse_pairs(const std::vector<std::string>& texts) {
  const auto checked = [](const std::string& text) {
    make_method(text);
    return text;
  };
  if (texts.size() == 2 && (texts[0] + texts[1]).find('/') == std::string::npos)
    return {{checked(texts[0]), checked(texts[1])}};
  std::vector<MethodPair> pairs;
  for (const auto& text : texts) {
    const size_t slash = text.find('/');
    if (slash == std::string::npos)
      fail_usage("--compare: expected two methods a,b or pairs a/b,c/d, found '{}'", fmt::join(texts, ","));
    pairs.emplace_back(checked(text.substr(0, slash)), checked(text.substr(slash + 1)));
  }
  return pairs;
}

void check_outputs(const EvaluateArguments& options) {
  for (const auto& path : {options.json, options.predictions, options.save_episodes}) {
    if (!path.empty()) check_writable(path);
  }
  const bool is_one_list = options.tasks.shots.size() <= 1 && options.tasks.seeds.size() <= 1;
  if (!options.save_episodes.empty() && !is_one_list)
    fail_usage("--save-episodes writes one list: give a single --k-shot and a single seed");
}

void write_results(const CLI::App& command, const EvaluateArguments& options, const EvaluationData& data,
                   const EpisodeList& list, json findings) {
  Provenance provenance = provenance_of(command, list.seed);
  data.files.add_to(provenance);
  findings["hashes"] = provenance.inputs;
  findings["header"] = make_header("results", 1, provenance).to_json();
  findings["command"] = command_line(command);
  findings["dataset"] = {{"features", data.files.features},
                         {"features_hash", data.features.content_hash},
                         {"split", to_string(list.split)},
                         {"classes", data.features.classes_of(list.split).size()}};
  write_file(options.json, json_text(findings, 1));
}

/// Notes that base classes are not used if nothing was fitted on them.
void note_what_is_not_fitted(const EvaluationData& data, const Methods& methods) {
  if (!data.fitted.empty() || data.features.classes_of(Split::kBase).empty()) return;
  for (const auto& method : methods) {
    if (!method->spec().has(Need::kFitting)) continue;
    return logger().info(
        "'{}' is not fitted and uses only the labelled images of each episode: to use base classes, run `protocom fit` "
        "and give --fitted",
        method->label());
  }
}

void run_evaluate(const CLI::App& command, const EvaluateArguments& options, const EvaluationData& data) {
  std::vector<std::string> named = options.methods;
  named.insert(named.end(), data.chosen.begin(), data.chosen.end());
  ScoringOptions evaluation;
  evaluation.methods =
      make_methods(named.empty() ? default_methods(data.inputs().model, data.fitted) : named, data.fitted);
  note_what_is_not_fitted(data, evaluation.methods);
  evaluation.group = &job();
  if (!options.predictions.empty()) evaluation.predictions = KeepPredictions::kYes;
  const Comparisons comparisons = with_labels(options.comparisons, labels_of(evaluation.methods));
  const auto pairs = pairs_to_compare(labels_of(evaluation.methods), comparisons);
  auto tasks = data.episodes ? std::vector<EvaluationTask>{{data.episodes->shape, {*data.episodes}}}
                             : tasks_of(command, data.features, options.tasks);
  const bool writes = job().is_main();
  if (writes && !options.save_episodes.empty())
    write_episodes(options.save_episodes, tasks.front().lists.front(), data.features);

  const TaskRecords records = evaluate_tasks(data.inputs(), tasks, evaluation, progress());
  if (!writes) return;
  json findings = findings_json(data.features, tasks, pairs, records.checks);
  findings["baseline"] = comparisons.baseline;
  findings["findings"] = data.findings;
  if (options.speed) add_speeds(data.inputs(), tasks, evaluation.methods, findings);
  print_findings(findings, comparisons.baseline);
  if (!options.predictions.empty()) write_file(options.predictions, records.predictions_csv);
  if (!options.json.empty()) write_results(command, options, data, tasks.front().lists.front(), std::move(findings));
}

void add_methods(CLI::App& command, EvaluateArguments& options, EvaluationFiles& files) {
  add_methods_option(command, options.methods,
                     "Methods with their parameters, see protocom methods: mean,gauss-fusion:scale=20,simple-shot; "
                     "default: those of --fitted, with and without knowledge, and mean; with --model the paper's four");
  add_fitted_option(command, files);
  add_input_option(command, "--tuned", files.tuned, "Methods chosen by protocom tune, added to --methods");
  command.add_option("--baseline", options.comparisons.baseline, "Method that the others are compared with")
      ->each([](const std::string& text) { make_method(text); });
  const auto take = [&options](const std::vector<std::string>& texts) {
    options.comparisons.pairs = parse_pairs(texts);
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--compare", take,
          "Two methods a,b (or pairs a/b,c/d) to compare on the same episodes, in addition to the baseline")
      ->delimiter(',');
}

void add_tasks(CLI::App& command, EvaluateArguments& options, EvaluationFiles& files) {
  add_draw_options(command, options.tasks);
  command.add_option("--unlabelled", options.tasks.shape.unlabelled,
                     "Images per class of an unlabelled pool that transductive methods use instead of the queries");
  auto* file =
      add_input_option(command, "--episodes-file", files.episodes, "Run these episodes (JSON) instead of drawing some");
  for (const char* drawn : {"--n-way", "--k-shot", "--n-query", "--unlabelled", "--query-distribution", "--alpha",
                            "--episodes", "--seed", "--seeds"})
    file->excludes(command.get_option(drawn));
  add_output_option(command, "--save-episodes", options.save_episodes,
                    "Write the drawn episodes (JSON), for other programs");
}

void add_evaluate_command(CLI::App& app) {
  auto options = std::make_shared<EvaluateArguments>();
  auto files = std::make_shared<EvaluationFiles>();
  CLI::App* command = add_command(
      app, "evaluate", "Accuracy on few-shot episodes, with intervals",
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --json out.json\n"
      "protocom evaluate --features features.npz --methods mean,simple-shot,simple-shot:transform=l2n --k-shot 1\n"
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --k-shot 1-5 \\\n"
      "    --query-distribution dirichlet --seeds 1,2,3 --compare gauss-fusion,mean-fusion");
  add_data_options(*command, *files);
  add_model_option(*command, *files);
  add_methods(*command, *options, *files);
  add_tasks(*command, *options, *files);
  add_output_option(*command, "--predictions", options->predictions,
                    "Write every method's answer to every query (CSV)");
  command->add_flag("--speed", options->speed,
                    "Time each method alone: episodes per second of one core, which differ from run to run");
  add_output_option(*command, "--json", options->json, "Write every figure and the accuracy of every episode");
  command->callback([command, options, files] {
    if (job().is_main()) check_outputs(*options);
    run_evaluate(*command, *options, read_files(*files, Split::kNovel));
  });
}

const Command kEvaluate{Group::kMeasuring, 20, &add_evaluate_command};

}  // namespace
}  // namespace protocom::cli
