#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "protocom/core/progress.h"
#include "protocom/data/episodes.h"
#include "protocom/data/feature_set.h"
#include "protocom/eval/checks.h"
#include "protocom/eval/statistics.h"
#include "protocom/fewshot/completer.h"
#include "protocom/fewshot/gauss_fusion.h"

namespace protocom {

/// The four rows of the paper's ablation (table 4): which prototypes the queries are compared with.
enum class Method {
  kMean,        ///< (i) class means
  kCompleted,   ///< (ii) completed by ProtoComNet
  kMeanFusion,  ///< (iii) half of each
  kGaussFusion  ///< (iv) GaussFusion
};

/// "mean", "completed", "mean-fusion", "gauss-fusion".
std::string_view to_string(Method method);
/// Throws UsageError for anything else.
Method parse_method(std::string_view text);
/// All four, in the order of the table.
std::vector<Method> all_methods();

/// "transductive" when a query's prediction may depend on the other queries of its episode, else "inductive".
std::string_view mode_of(Method method);
/// The same in episodes of a shape: what is transductive among queries alone is "semi-supervised" with a pool, which
/// then takes the queries' place.
std::string_view mode_of(Method method, const EpisodeShape& shape);

/// Whether an evaluation keeps a record of every single query.
enum class KeepPredictions { kNo, kYes };

/// Settings of an evaluation.
struct EvaluateOptions {
  std::vector<Method> methods = all_methods();
  GaussFusionOptions fusion;
  int64_t batch = 512;  ///< episodes between two reports of progress; results do not depend on it
  KeepPredictions predictions = KeepPredictions::kNo;
};

/// What a method said of one query. Probabilities are softmax(scale * cosine) over the episode's classes (equation 8),
/// with the scale of GaussFusionOptions.
struct Prediction {
  int64_t episode = 0;     ///< in EpisodeList::episodes
  int64_t row = 0;         ///< of the query in FeatureSet::features
  int64_t true_class = 0;  ///< in FeatureSet::class_names
  int64_t predicted = 0;   ///< in FeatureSet::class_names
  float probability = 0;   ///< of the predicted class, in [0, 1]
  float margin = 0;        ///< that less the probability of the second best class, in [0, 1]
};

/// What one method reached on a list of episodes.
struct MethodScores {
  Method method = Method::kMean;
  std::vector<double> accuracy;  ///< per episode, percent of queries
  std::vector<double>
      cosine;  ///< per episode, mean over classes of the prototype's cosine to the class's true centre (table 3)
  std::vector<Prediction> predictions;  ///< with kYes: every query of every episode, in the order of the list
};

/// Runs every method on the same episodes, on all cores that LibTorch may use. Queries go to the class of the most
/// similar prototype (cosine, equation 8; the scale does not change the winner). GaussFusion uses an episode's pool
/// when it has one, else its queries. A class's true centre is the mean of all its features. `classes` has the order of
/// features.class_names; `model` and `classes` may be null when only kMean is asked for, else Error is thrown. Episodes
/// may differ in their numbers of classes, shots and queries; results are the same to the last bit for every number of
/// threads and every batch. Throws Error when sizes of features and model differ or a check of checks.h fails.
std::vector<MethodScores> evaluate(const FeatureSet& features, const EpisodeList& episodes,
                                   const CompletionModel* model, const ClassKnowledge* classes,
                                   const EvaluateOptions& options, Progress& progress);

/// What evaluate() gives, with what it checked.
struct CheckedScores {
  std::vector<MethodScores> methods;
  ProtocolChecks checks;
};

/// evaluate() that also tells what it checked: check_episodes, check_unseen, and check_permutation for every method.
CheckedScores evaluate_checked(const FeatureSet& features, const EpisodeList& episodes, const CompletionModel* model,
                               const ClassKnowledge* classes, const EvaluateOptions& options, Progress& progress);

/// One entry of `results` for each method: method, mode, n_way, k_shot, n_query, episodes, accuracy and ci95 (percent),
/// cosine, cosine_ci95, per_episode.
nlohmann::json results_json(const EpisodeShape& shape, const std::vector<MethodScores>& results);

}  // namespace protocom
