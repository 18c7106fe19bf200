#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/episodes.h"
#include "datasets/feature_set.h"

namespace protocom {

/// The checks made before results were accepted. Failures are not recorded: a failed check throws.
struct ProtocolChecks {
  int64_t episodes = 0;    ///< number in which supports, queries and pool are disjoint and no row occurs twice
  int64_t rows = 0;        ///< number of their rows that belong to the class and the split they are listed under
  int64_t copies = 0;      ///< number of images of the split whose features equal those of another image exactly
  int64_t classes = 0;     ///< number of different classes of the episodes, all of one split
  int64_t trained_on = 0;  ///< number of base classes of the model, none of them evaluated; 0 if it does not name them
  int64_t permuted_episodes = 0;  ///< number run again with their queries in another order
  int64_t permuted_queries = 0;   ///< number of predictions compared, over all methods
  int64_t ties = 0;  ///< number of those changed by a practical tie of the best two classes, or by rounding alone

  /// Returns {"passed": true, "disjoint": {...}, "split": {...}, "permutation": {...}}, each with its counts and a
  /// description.
  [[nodiscard]] nlohmann::json to_json() const;
  /// Adds the counts for another list; takes the maximum of `classes`.
  void add(const ProtocolChecks& other);
};

/// Checks every episode: as many supports and queries as classes, only classes of the list's split and none twice; rows
/// that exist, are of their class, and appear once in the episode (so support, query and pool are disjoint); at least
/// one support per class and one query. No class name may appear in two splits. Throws Error that names the episode.
ProtocolChecks check_episodes(const FeatureSet& features, const EpisodeList& list);

/// Checks that no class of the evaluated split is among those that a model was trained on (`trained_on`), unless the
/// base split itself is evaluated: a model may come from another split of the same classes. Throws Error that names the
/// class.
void check_unseen(const FeatureSet& features, Split split, const std::vector<std::string>& trained_on,
                  ProtocolChecks& checks);

/// The prediction for one query.
struct QueryVerdict {
  int64_t winner = 0;     ///< index into the episode's classes
  float margin = 0;       ///< probability of the best class minus that of the second
  float probability = 0;  ///< of the best class; not used by checks
};

/// Predicts the queries of an episode (rows of a FeatureSet) in the order given: one verdict per query.
using QueryClassifier =
    std::function<std::vector<QueryVerdict>(const Episode& episode, const std::vector<int64_t>& query)>;

/// A method with its name for messages.
struct NamedClassifier {
  std::string method;
  QueryClassifier classify;
};

/// Runs some episodes of the list, evenly spaced, with the queries class by class and in a random order. A classifier
/// that depends on the order (batch statistics, queries sorted by class) predicts differently. Throws Error that names
/// the method, the episode and the image, unless the best two classes were practically equal both times, or another
/// order within each class changes answers of the episode as well, which then depend on rounding. The counts go into
/// `checks`.
void check_permutation(const FeatureSet& features, const EpisodeList& list, const NamedClassifier& named,
                       ProtocolChecks& checks);

}  // namespace protocom
