#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/episodes.h"
#include "datasets/feature_set.h"

namespace protocom {

/// What was looked at before figures were believed. There is no record of failures: a check that fails throws.
struct ProtocolChecks {
  int64_t episodes = 0;           ///< in which supports, queries and pool were found disjoint, no row twice
  int64_t rows = 0;               ///< rows of them that belong to the class and the split they are listed under
  int64_t copies = 0;             ///< images of the split whose features are exactly those of another image
  int64_t classes = 0;            ///< different classes of the episodes, all of one split
  int64_t trained_on = 0;         ///< base classes of the model, none of them evaluated; 0 when it does not name them
  int64_t permuted_episodes = 0;  ///< run again with their queries in another order
  int64_t permuted_queries = 0;   ///< predictions compared, over all methods
  int64_t ties = 0;  ///< of those, changed where the best two classes were as good as equal, or by rounding alone

  /// {"passed": true, "disjoint": {...}, "split": {...}, "permutation": {...}}, each with its counts and in words.
  [[nodiscard]] nlohmann::json to_json() const;
  /// The sum over lists that were checked one by one; of `classes` the largest.
  void add(const ProtocolChecks& other);
};

/// Checks every episode: as many supports and queries as classes, classes of the list's split only and none twice; rows
/// that exist, are of their class, and appear once in the episode (so support, query and pool are disjoint); at least
/// one support a class and one query. No class name appears in two splits. Throws Error that names the episode.
ProtocolChecks check_episodes(const FeatureSet& features, const EpisodeList& list);

/// Checks that no class of the split evaluated is among those that a model was trained on (`trained_on`), unless the
/// base split itself is evaluated: a model may come from another split of the same classes. Throws Error that names the
/// class.
void check_unseen(const FeatureSet& features, Split split, const std::vector<std::string>& trained_on,
                  ProtocolChecks& checks);

/// A prediction of one query.
struct QueryVerdict {
  int64_t winner = 0;     ///< index into the episode's classes
  float margin = 0;       ///< probability of the best class less that of the second
  float probability = 0;  ///< of the best class; no check reads it
};

/// Predicts the queries of an episode (rows of a FeatureSet) in the order given: one verdict a query.
using QueryClassifier =
    std::function<std::vector<QueryVerdict>(const Episode& episode, const std::vector<int64_t>& query)>;

/// A method by the name that messages give it.
struct NamedClassifier {
  std::string method;
  QueryClassifier classify;
};

/// Runs some episodes of the list, evenly spread, with the queries class by class and in a random order. A classifier
/// that peeks at the order (batch statistics, queries sorted by class) predicts differently. Throws Error that names
/// the method, the episode and the image, unless the best two classes were as good as equal both times, or another
/// order within each class changes answers of the episode as well, which then follow from rounding. The counts go into
/// `checks`.
void check_permutation(const FeatureSet& features, const EpisodeList& list, const NamedClassifier& named,
                       ProtocolChecks& checks);

}  // namespace protocom
