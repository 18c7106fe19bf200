#include "eval/evaluation_tasks.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "eval/detail/prepared_context.h"
#include "eval/predictions.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {
namespace {

using nlohmann::json;

int64_t parse_shots(const std::string& text, const std::string& whole) {
  const auto value = number_from<int64_t>(text);
  if (!value) fail_usage("shots are numbers or ranges such as 1,5 or 1-5, found '{}'", whole);
  return *value;
}

void append(json& list, json more) { list.insert(list.end(), more.begin(), more.end()); }

json lists_json(const FeatureSet& features, const std::vector<EvaluationTask>& tasks) {
  json out = json::array();
  for (const EvaluationTask& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      json row = shape_json(list.shape);
      row["seed"] = list.seed;
      row["episodes"] = list.episodes.size();
      row["hash"] = list.hash(features);
      out.push_back(std::move(row));
    }
  }
  return out;
}

/// Warns of methods that were fitted for another number of shots than a task has.
void warn_of_other_shots(const Methods& methods, const EpisodeShape& shape) {
  for (const auto& method : methods) {
    const std::string warning =
        warning_of_other_shots(*method, {shape.k_shot, std::max(shape.k_shot, shape.most_shots)});
    if (!warning.empty()) logger().warn("{}", warning);
  }
}

/// Returns the methods that need no more labelled images than a task has; all if none does, so that the error names
/// one.
Methods able_to_do(const Methods& methods, const EpisodeShape& shape) {
  Methods able = able_with(methods, shape.k_shot);
  return able.empty() ? methods : able;
}

/// Returns the options for a task; among several tasks, those without labelled images leave out methods that need some.
ScoringOptions for_task(const ScoringOptions& options, const EvaluationTask& task, size_t tasks) {
  ScoringOptions own = options;
  if (tasks > 1) own.methods = able_to_do(options.methods, task.shape);
  for (const auto& method : options.methods) {
    if (std::find(own.methods.begin(), own.methods.end(), method) == own.methods.end())
      logger().info("'{}' needs labelled images: skipping it in tasks without", method->label());
  }
  return own;
}

}  // namespace

EpisodeShape with_shots(EpisodeShape shape, const std::string& shots) {
  const size_t dash = shots.find('-');
  shape.k_shot = parse_shots(shots.substr(0, dash), shots);
  if (dash != std::string::npos) shape.most_shots = parse_shots(shots.substr(dash + 1), shots);
  return shape;
}

std::vector<EvaluationTask> draw_tasks(const FeatureSet& features, const TaskOptions& options) {
  if (options.shots.empty() || options.seeds.empty())
    fail_usage("at least one number of shots and one seed are needed");
  std::vector<EvaluationTask> tasks;
  for (const auto& shots : options.shots) {
    tasks.push_back({with_shots(options.shape, shots), {}});
    for (const uint64_t seed : options.seeds)
      tasks.back().lists.push_back(
          sample_episodes(features, {options.split, tasks.back().shape, options.episodes, seed}));
  }
  return tasks;
}

TaskRecords evaluate_tasks(const EvaluateInputs& inputs, std::vector<EvaluationTask>& tasks,
                           const ScoringOptions& options, Progress& progress) {
  const bool keeps = options.predictions == KeepPredictions::kYes;
  TaskRecords records;
  if (keeps) records.predictions_csv = predictions_csv_header();
  for (EvaluationTask& task : tasks) {
    const ScoringOptions own = for_task(options, task, tasks.size());
    warn_of_other_shots(own.methods, task.shape);
    for (const EpisodeList& list : task.lists) {
      CheckedScores scores = evaluate_checked(inputs, list, own, progress);
      records.checks.add(scores.checks);
      task.scores.push_back({list.seed, std::move(scores.methods)});
    }
    if (!keeps) continue;
    append_predictions_csv(task.shape, task.scores, inputs.features, records.predictions_csv);
    for (SeedScores& seed : task.scores) {
      for (MethodScores& method : seed.methods) method.predictions = {};
    }
  }
  return records;
}

std::vector<EvaluationTask> tasks_of(const std::vector<EpisodeList>& lists) {
  std::vector<EvaluationTask> tasks;
  for (const EpisodeList& list : lists) {
    const auto same = std::find_if(tasks.begin(), tasks.end(), [&](const EvaluationTask& task) {
      return shape_json(task.shape) == shape_json(list.shape);
    });
    if (same == tasks.end())
      tasks.push_back({list.shape, {list}});
    else
      same->lists.push_back(list);
  }
  return tasks;
}

Evaluated evaluate_lists(const FeatureSet& features, const std::vector<EpisodeList>& lists, const Contestants& given,
                         Progress& progress) {
  if (lists.empty()) fail_usage("there are no episodes to evaluate on");
  if (given.model != nullptr && given.knowledge == nullptr)
    fail_usage("a completion model needs knowledge of the classes");
  EvaluateInputs inputs{features, given.model, nullptr, given.knowledge};
  for (const FittedMethod& fitted : given.fitted) {
    if (fitted.feature_dim != features.dim())
      fail("'{}' was fitted on features of {} dimensions, found {}: extract both with the same encoder",
           fitted.method->label(), fitted.feature_dim, features.dim());
    inputs.trained_on.insert(inputs.trained_on.end(), fitted.trained_on.begin(), fitted.trained_on.end());
  }
  KnowledgeTable described;
  if (given.model != nullptr) {
    described = align_knowledge(*given.knowledge, features.class_names, given.model->attributes);
    inputs.classes = &described;
  }
  ScoringOptions options;
  options.methods =
      make_methods(given.methods.empty() ? default_methods(given.model, given.fitted) : given.methods, given.fitted);
  Evaluated made;
  made.comparisons = with_labels({given.baseline, {}}, labels_of(options.methods));
  made.pairs = pairs_to_compare(labels_of(options.methods), made.comparisons);
  made.tasks = tasks_of(lists);
  made.records = evaluate_tasks(inputs, made.tasks, options, progress);
  return made;
}

json findings_json(const FeatureSet& features, const std::vector<EvaluationTask>& tasks,
                   const std::vector<MethodPair>& pairs, const ProtocolChecks& checks) {
  json out = {{"checks", checks.to_json()},
              {"episode_lists", lists_json(features, tasks)},
              {"results", json::array()},
              {"differences", json::array()}};
  std::string hashes;
  for (const json& list : out["episode_lists"]) hashes += (hashes.empty() ? "" : " ") + list["hash"].get<std::string>();
  out["episodes_hash"] = hashes;
  for (const EvaluationTask& task : tasks) {
    append(out["results"], results_json(task.shape, task.scores));
    append(out["differences"], differences_json(task.shape, task.scores, pairs));
  }
  return out;
}

}  // namespace protocom
