#include "cli.h"
#include "evaluation_inputs.h"
#include "evaluation_tables.h"
#include "file_options.h"
#include "job.h"
#include "protocom/eval/speed.h"
#include "protocom/eval/tune.h"
#include "task_options.h"

namespace protocom::cli {
namespace {

struct EvaluateArguments {
  EvaluationFiles files;
  std::string json, predictions, tuned;
  bool speed = false;
  std::vector<std::string> methods, compare;
  TaskArguments tasks;
  Comparisons comparisons;
};

/// "a,b" or "a/b,c/d": how much better a is than b, and c than d. Colons belong to parameters.
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
      fail_usage("--compare takes two methods a,b or pairs a/b,c/d; found '{}'", fmt::join(texts, ","));
    pairs.emplace_back(checked(text.substr(0, slash)), checked(text.substr(slash + 1)));
  }
  return pairs;
}

void check_outputs(const EvaluateArguments& options) {
  for (const auto& path : {options.json, options.predictions, options.tasks.save_episodes}) {
    if (!path.empty()) check_writable(path);
  }
  if (!options.tasks.save_episodes.empty() && !options.tasks.is_one_list())
    fail_usage("--save-episodes writes one list: give a single --k-shot and a single seed");
}

void write_json(const CLI::App& command, const EvaluateArguments& options, const FeatureSet& features,
                const Task& first, nlohmann::json findings) {
  const EpisodeList& list = first.lists.front();
  Provenance provenance = provenance_of(command, list.seed);
  options.files.add_to(provenance);
  add_input(provenance, "episodes", options.tasks.episodes_file);
  add_input(provenance, "tuned", options.tuned);
  findings["hashes"] = provenance.inputs;
  findings["header"] = make_header("results", 1, provenance).to_json();
  findings["command"] = command_line(command);
  findings["dataset"] = {{"features", options.files.features},
                         {"features_hash", features.content_hash},
                         {"split", to_string(list.split)},
                         {"classes", features.classes_of(list.split).size()}};
  write_file(options.json, findings.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Base classes are not used where nothing was fitted on them.
void note_what_is_not_fitted(const EvaluationData& data, const Methods& methods) {
  if (!data.fitted.empty() || data.features.classes_of(Split::kBase).empty()) return;
  for (const auto& method : methods) {
    if (!method->spec().has(Need::kFitting)) continue;
    return logger().info(
        "'{}' is not fitted and knows the labelled images of each episode alone: `protocom fit` and --fitted let it "
        "use "
        "the base classes",
        method->label());
  }
}

void run_evaluate(const CLI::App& command, EvaluateArguments& options) {
  options.comparisons.pairs = parse_pairs(options.compare);
  make_method(options.comparisons.baseline);
  if (!options.tuned.empty()) {
    const auto chosen = read_chosen(options.tuned);
    options.methods.insert(options.methods.end(), chosen.begin(), chosen.end());
  }
  if (!options.methods.empty()) make_methods(options.methods);  // a wrong name is said before files are read
  if (job().is_main()) check_outputs(options);
  const EvaluationData data = read_files(options.files, Split::kNovel);
  EvaluateOptions evaluation;
  evaluation.methods = make_methods(
      options.methods.empty() ? default_methods(data.inputs().model, data.fitted) : options.methods, data.fitted);
  note_what_is_not_fitted(data, evaluation.methods);
  evaluation.group = &job();
  if (!options.predictions.empty()) evaluation.predictions = KeepPredictions::kYes;
  options.comparisons = with_labels(options.comparisons, labels_of(evaluation.methods));
  const auto pairs = pairs_to_compare(labels_of(evaluation.methods), options.comparisons);
  auto tasks = tasks_of(command, options.tasks, data.features);
  const bool writes = job().is_main();
  if (writes && !options.tasks.save_episodes.empty())
    write_episodes(options.tasks.save_episodes, tasks.front().lists.front(), data.features);

  const TaskRecords records = evaluate_tasks(data.inputs(), tasks, evaluation, progress());
  if (!writes) return;
  nlohmann::json findings = findings_json(data.features, tasks, pairs, records.checks);
  findings["baseline"] = options.comparisons.baseline;
  findings["findings"] = data.findings;
  if (options.speed) add_speeds(data.inputs(), tasks, evaluation.methods, findings);
  print_findings(findings, options.comparisons.baseline);
  if (!options.predictions.empty()) write_file(options.predictions, records.predictions_csv);
  if (!options.json.empty()) write_json(command, options, data.features, tasks.front(), std::move(findings));
}

void add_methods(CLI::App& command, EvaluateArguments& options) {
  command
      .add_option(
          "--methods", options.methods,
          "Methods with their parameters, see protocom methods: mean,gauss-fusion:scale=20,simple-shot; otherwise "
          "what --fitted has, with and without its knowledge, and mean, with --model the paper's four")
      ->delimiter(',');
  add_fitted_option(command, options.files);
  command.add_option("--tuned", options.tuned, "The methods that protocom tune chose, besides --methods")
      ->type_name(kInput);
  command.add_option("--baseline", options.comparisons.baseline, "What every other method is compared with");
  command
      .add_option("--compare", options.compare,
                  "Two methods a,b (or pairs a/b,c/d) to compare on the same episodes, besides each with the baseline")
      ->delimiter(',');
}

void add_evaluate_command(CLI::App& app) {
  auto options = std::make_shared<EvaluateArguments>();
  CLI::App* command = add_command(
      app, "evaluate", "Accuracy on few-shot episodes, with intervals",
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --json out.json\n"
      "protocom evaluate --features features.npz --methods mean,simple-shot,simple-shot:transform=l2n --k-shot 1\n"
      "protocom evaluate --features features.npz --knowledge knowledge.npz --model model.npz --k-shot 1-5 \\\n"
      "    --query-distribution dirichlet --seeds 1,2,3 --compare gauss-fusion,mean-fusion");
  add_data_options(*command, options->files);
  add_model_option(*command, options->files);
  add_methods(*command, *options);
  add_task_options(*command, options->tasks);
  command->add_option("--predictions", options->predictions, "Write every method's answer to every query (CSV)")
      ->type_name(kOutput);
  command->add_flag("--speed", options->speed,
                    "Time each method alone: episodes per second of one core, which differ from run to run");
  command->add_option("--json", options->json, "Write every figure and the accuracy of every episode")
      ->type_name(kOutput);
  command->callback([command, options] { run_evaluate(*command, *options); });
}

const Command kEvaluate{Order::kEvaluate, &add_evaluate_command};

}  // namespace
}  // namespace protocom::cli
