#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eval/results_json.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Lists of episodes of one shape, one per seed, and what was reached on them.
struct EvaluationTask {
  EpisodeShape shape;
  std::vector<EpisodeList> lists;
  std::vector<SeedScores> scores = {};
};

/// Which tasks an evaluation draws.
struct TaskOptions {
  EpisodeShape shape;                           ///< but for the shots
  std::vector<std::string> shots = {"1", "5"};  ///< a task each: a number, or a range "1-5" of ragged shots
  Split split = Split::kNovel;
  int64_t episodes = EpisodeOptions{}.count;  ///< a list
  std::vector<uint64_t> seeds = {1};          ///< a list each
};

/// The shape with the shots of "5", or "1-5" for classes of one to five. Throws UsageError for anything else.
EpisodeShape with_shots(EpisodeShape shape, const std::string& shots);

/// Draws them. Throws Error like sample_episodes, UsageError for no seed or no shots.
std::vector<EvaluationTask> draw_tasks(const FeatureSet& features, const TaskOptions& options);

/// What evaluating tasks gives besides their scores.
struct TaskRecords {
  ProtocolChecks checks;
  std::string predictions_csv;  ///< with KeepPredictions::kYes: the file of predictions.h
};

/// Runs every method on every list of every task (see evaluate_checked); the scores go into the tasks, without the
/// predictions, which become text as soon as a task is done.
TaskRecords evaluate_tasks(const EvaluateInputs& inputs, std::vector<EvaluationTask>& tasks,
                           const ScoringOptions& options, Progress& progress);

/// What is evaluated besides features and episodes. What it points to must outlive the evaluation.
struct Contestants {
  std::vector<std::string> methods = {};  ///< with parameters; empty: what is fitted, and the mean
  std::vector<FittedMethod> fitted = {};
  const KnowledgeTable* knowledge = nullptr;
  const CompletionModel* model = nullptr;  ///< needs knowledge
  std::string baseline = "mean";           ///< what the others are compared with, if it is evaluated
};

/// What an evaluation gave.
struct Evaluated {
  std::vector<EvaluationTask> tasks;  ///< with their scores
  Comparisons comparisons;            ///< of labels of methods
  std::vector<MethodPair> pairs;
  TaskRecords records;
};

/// Lists of one shape make one task.
std::vector<EvaluationTask> tasks_of(const std::vector<EpisodeList>& lists);

/// Evaluates methods on lists of episodes of these features. Throws UsageError for no list and for a completion model
/// without knowledge, Error for methods that were fitted on features of another size, and what evaluate_tasks throws.
Evaluated evaluate_lists(const FeatureSet& features, const std::vector<EpisodeList>& lists, const Contestants& given,
                         Progress& progress);

/// What several tasks gave, as `evaluate --json` writes it: `results`, `differences`, `episode_lists` and `checks` of
/// docs/formats.md. The caller adds where it came from.
nlohmann::json findings_json(const FeatureSet& features, const std::vector<EvaluationTask>& tasks,
                             const std::vector<MethodPair>& pairs, const ProtocolChecks& checks);

}  // namespace protocom
