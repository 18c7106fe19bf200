#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"

namespace protocom {

/// Tasks in which some queries belong to none of the classes.
struct OpenSetOptions {
  EpisodeOptions episodes;                 ///< of the given classes; balanced queries
  std::vector<int64_t> shots = {0, 1, 5};  ///< labelled images per class; 0 for methods that allow it
  int64_t others = 5;                      ///< classes that are not given, with as many queries each
};

/// A method's result on open-set tasks. A query's score for being one of the classes is 1 - P(none) if the method gives
/// the logit of an unseen class (EpisodeScores::unseen), else the highest probability of a class.
struct OpenSetResult {
  std::string method;
  std::string mode;
  double shots = 0.0;
  bool knows_none = false;      ///< whether the method gives P(none)
  Estimate accuracy;            ///< percent of the queries of given classes, with "none" not an answer
  double area = 0.0;            ///< under the ROC curve over all queries of all tasks, in [0, 1]; ties count half
  double false_accept = 0.0;    ///< percent of the others accepted where 95 % of the given classes' queries are
  double expected_error = 0.0;  ///< ECE of the answer's probability, in [0, 1]; "none" counts if P(none) is given
  double area_ci95 = 0.0;       ///< half width of the 95 % interval of `area` over tasks
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenSetResult, method, mode, shots, knows_none, accuracy, area, false_accept,
                                   expected_error, area_ci95)

/// Returns the episodes of tasks with this many shots; their last `others` classes are not given to the method.
EpisodeOptions with_others(const OpenSetOptions& options, int64_t shots);

/// Runs open-set tasks; methods that need more labelled images than a point has are left out there. Throws Error like
/// sample_episodes for tasks of n_way + others classes, UsageError for fewer than 1 other.
std::vector<OpenSetResult> analyse_open_set(const EvaluateInputs& inputs, const Methods& methods,
                                            const OpenSetOptions& options, Progress& progress);

/// Returns the area under the ROC curve of two samples of scores: the probability that a positive one exceeds a
/// negative one, ties counting half. The scores are of `tasks` tasks in order, equally many of each; the interval is
/// over tasks, by their placement values (Obuchowski, Biometrics 1997). Throws Error without a score of either kind.
Estimate area_under_curve(const std::vector<double>& positive, const std::vector<double>& negative, size_t tasks);

/// Returns the share of `negative`, in [0, 1], at or above the threshold that a share `recall` of `positive` reaches.
double accepted_at_recall(std::vector<double> positive, const std::vector<double>& negative, double recall);

}  // namespace protocom
