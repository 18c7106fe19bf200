#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eval/results_json.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Lists of episodes of one shape, one per seed, and the scores on them.
struct EvaluationTask {
  EpisodeShape shape;
  std::vector<EpisodeList> lists;
  std::vector<SeedScores> scores = {};
};

/// The tasks that an evaluation draws.
struct TaskOptions {
  EpisodeShape shape;                           ///< except the shots
  std::vector<std::string> shots = {"1", "5"};  ///< one task each: a number, or a range "1-5" of ragged shots
  Split split = Split::kNovel;
  int64_t episodes = EpisodeOptions{}.count;  ///< per list
  std::vector<uint64_t> seeds = {1};          ///< one list each
};

/// Sets the shots of a shape from "5", or "1-5" for classes with one to five. Throws UsageError for anything else.
EpisodeShape with_shots(EpisodeShape shape, const std::string& shots);

/// Draws the tasks. Throws Error like sample_episodes, UsageError for no seed or no shots.
std::vector<EvaluationTask> draw_tasks(const FeatureSet& features, const TaskOptions& options);

/// Results of evaluating tasks besides their scores.
struct TaskRecords {
  ProtocolChecks checks;
  std::string predictions_csv;  ///< with KeepPredictions::kYes: the file of predictions.h
};

/// Runs every method on every list of every task (see evaluate_checked); the scores go into the tasks, without the
/// predictions, which are converted to text as soon as a task is done.
TaskRecords evaluate_tasks(const EvaluateInputs& inputs, std::vector<EvaluationTask>& tasks,
                           const ScoringOptions& options, Progress& progress);

/// The inputs of an evaluation besides features and episodes. The pointers must stay valid until its end.
struct Contestants {
  std::vector<std::string> methods = {};  ///< with parameters; empty: the fitted ones, and the mean
  std::vector<FittedMethod> fitted = {};
  const KnowledgeTable* knowledge = nullptr;
  const CompletionModel* model = nullptr;  ///< needs knowledge
  std::string baseline = "mean";           ///< the method that the others are compared with, if it is evaluated
};

/// The result of an evaluation.
struct Evaluated {
  std::vector<EvaluationTask> tasks;  ///< with their scores
  Comparisons comparisons;            ///< with labels of methods
  std::vector<MethodPair> pairs;
  TaskRecords records;
};

/// Groups lists of one shape into one task.
std::vector<EvaluationTask> tasks_of(const std::vector<EpisodeList>& lists);

/// Evaluates methods on lists of episodes of these features. Throws UsageError for no list and for a completion model
/// without knowledge, Error for methods that were fitted on features of another size, and what evaluate_tasks throws.
Evaluated evaluate_lists(const FeatureSet& features, const std::vector<EpisodeList>& lists, const Contestants& given,
                         Progress& progress);

/// Returns the results of several tasks as `evaluate --json` writes them: `results`, `differences`, `episode_lists` and
/// `checks` of docs/formats.md. The caller adds the provenance.
nlohmann::json findings_json(const FeatureSet& features, const std::vector<EvaluationTask>& tasks,
                             const std::vector<MethodPair>& pairs, const ProtocolChecks& checks);

}  // namespace protocom
