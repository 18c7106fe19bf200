#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/episodes.h"
#include "datasets/feature_maps.h"
#include "datasets/feature_set.h"
#include "eval/checks.h"
#include "eval/statistics.h"
#include "fewshot/methods.h"
#include "jobs/process_group.h"

namespace protocom {

/// Whether an evaluation records every single query.
enum class KeepPredictions { kNo, kYes };

/// The inputs of an evaluation; the references must outlive it.
struct EvaluateInputs {
  const FeatureSet& features;
  const CompletionModel* model = nullptr;     ///< for methods that complete prototypes
  const KnowledgeTable* classes = nullptr;    ///< in the order of features.class_names, over the model's attributes
  const KnowledgeTable* knowledge = nullptr;  ///< all of it, for methods that need knowledge without a model
  std::vector<std::string> trained_on = {};   ///< names of the base classes that methods were fitted on
  const FeatureMaps* maps = nullptr;          ///< for the same images, for methods that need feature maps
};

/// Settings of an evaluation.
struct ScoringOptions {
  Methods methods = make_methods(paper_rows());
  KeepPredictions predictions = KeepPredictions::kNo;
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share the episodes
};

/// A method's prediction for one query.
struct Prediction {
  int64_t episode = 0;     ///< index into EpisodeList::episodes
  int64_t row = 0;         ///< row of the query in FeatureSet::features
  int64_t true_class = 0;  ///< index into FeatureSet::class_names
  int64_t predicted = 0;   ///< index into FeatureSet::class_names
  float probability = 0;   ///< of the predicted class: softmax of the method's logits, in [0, 1]
  float margin = 0;        ///< that minus the probability of the second best class, in [0, 1]
};

/// One method's results on a list of episodes.
struct MethodScores {
  std::string method;            ///< Method::label: "gauss-fusion", "gauss-fusion:scale=20"
  std::string mode;              ///< "inductive", "transductive" or "semi-supervised", see mode_of
  std::vector<double> accuracy;  ///< per episode, percent of queries
  std::vector<double> cosine;    ///< per episode, mean over classes of the prototype's cosine with the class's true
                                 ///< centre (table 3); empty for a method without prototypes
  std::vector<Prediction> predictions = {};  ///< with kYes: every query of every episode, in the order of the list
};

/// Returns "transductive" if a query's prediction may depend on the other queries of its episode, else "inductive".
/// With a pool a transductive method is "semi-supervised": the pool replaces the queries.
std::string mode_of(const MethodSpec& spec, const EpisodeShape& shape);

/// The result of evaluate_checked(): the scores and the checks.
struct CheckedScores {
  std::vector<MethodScores> methods;
  ProtocolChecks checks;
};

/// Runs every method on the same episodes, on all threads (base/threads.h). A query is assigned to the class with
/// the largest logit. A class's true centre is the mean of all its features. Methods that need base features get those
/// of the base split. Episodes may differ in their numbers of classes, shots and queries; results are the same to the
/// last bit for every number of threads and every batch. Throws UsageError if a method's needs are not met, Error if
/// sizes differ or a check of checks.h fails; everything is checked before the first episode is run. With several
/// processes each gets the whole result, which equals that of one process to the last bit.
CheckedScores evaluate_checked(const EvaluateInputs& inputs, const EpisodeList& episodes, const ScoringOptions& options,
                               Progress& progress);

/// Returns only the scores.
std::vector<MethodScores> evaluate(const EvaluateInputs& inputs, const EpisodeList& episodes,
                                   const ScoringOptions& options, Progress& progress);

/// Returns the scores of the method with that label, or null.
const MethodScores* find_scores(const std::vector<MethodScores>& scores, const std::string& label);

/// Returns the number of episodes that are scored together, and whose sums may therefore differ in the last bits from
/// those of single episodes: it depends only on the list. Shares of a list among processes are multiples of it.
int64_t episodes_together(const EpisodeList& episodes, int64_t feature_dim);

}  // namespace protocom
