#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "eval/evaluate.h"

namespace protocom {

/// Returns one entry of `results` for each method: method (its label), mode, n_way, k_shot, n_query, episodes, accuracy
/// and ci95 (percent), per_episode; for a method with prototypes also cosine and cosine_ci95.
nlohmann::json results_json(const EpisodeShape& shape, const std::vector<MethodScores>& results);

/// The scores of one list of episodes.
struct SeedScores {
  uint64_t seed = 0;
  std::vector<MethodScores> methods;
};

/// Returns the scores of several lists of one shape, as if they were one list: every method's values, list by list.
/// Throws Error unless every list has the same methods. Predictions are left out: their episode numbers count within a
/// list.
std::vector<MethodScores> pooled(const std::vector<SeedScores>& seeds);

/// Returns `results` of several lists of one shape: results_json of all episodes together; with more than one list each
/// entry also has per_seed: [{seed, episodes, accuracy, ci95, cosine}].
nlohmann::json results_json(const EpisodeShape& shape, const std::vector<SeedScores>& seeds);

/// The labels of a method and of the one it is compared with.
using MethodPair = std::pair<std::string, std::string>;

/// The comparisons of an evaluation.
struct Comparisons {
  std::string baseline = "mean";       ///< the method that every other one is compared with, if it is evaluated
  std::vector<MethodPair> pairs = {};  ///< further pairs
};

/// Returns the comparisons with labels: those of `methods` that label_meant() finds, else as make_method() gives them.
/// Throws UsageError like both.
Comparisons with_labels(Comparisons asked, const std::vector<std::string>& methods);

/// Returns every other method of `methods` (labels) paired with the baseline, if it is there, then the pairs requested,
/// none twice. Throws UsageError for a pair whose methods are not evaluated, and for a requested baseline that is not.
std::vector<MethodPair> pairs_to_compare(const std::vector<std::string>& methods, const Comparisons& asked);

/// Returns `differences`: for each pair the fields of the shape and {method, baseline, episodes, difference, ci95,
/// better, worse}: paired_difference in points over all episodes, and the share of episodes (percent) in which the
/// method is better or worse than the baseline; with more than one list also per_seed: [{seed, difference, ci95}].
nlohmann::json differences_json(const EpisodeShape& shape, const std::vector<SeedScores>& seeds,
                                const std::vector<MethodPair>& pairs);

/// Returns the fields that distinguish tasks of different shapes: n_way, k_shot, n_query; if applicable also k_shot_max
/// (ragged), unlabelled, query_distribution and alpha.
nlohmann::json shape_json(const EpisodeShape& shape);
/// Returns the shape described by such fields. Throws json::exception if one is missing or of another type.
EpisodeShape shape_from_json(const nlohmann::json& fields);

/// Returns the shape for display: "5-way 1-shot", "5-way 1-5-shot", with "+ 50 unlabelled" and "dirichlet(2)" if
/// applicable.
std::string describe(const EpisodeShape& shape);

/// Returns "+1.2", "-1.2", and "0.0" for values that round to 0.
std::string signed_text(double value, int decimals);

}  // namespace protocom
