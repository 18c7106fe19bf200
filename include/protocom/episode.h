#pragma once
#include <cstdint>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// The part of the few-shot protocol that a class belongs to. The classes of the three splits are disjoint.
enum class Split { kBase, kVal, kNovel };

/// How an episode's n_way * n_query queries are distributed over its classes.
enum class QueryDistribution {
  kBalanced,  ///< n_query per class
  kDirichlet  ///< proportions drawn from Dirichlet(alpha, ..., alpha), as a transductive method meets in practice
};

/// The shape of a few-shot task.
struct EpisodeShape {
  int64_t n_way = 5;
  int64_t k_shot = 1;      ///< labelled images per class; in a ragged task the fewest
  int64_t n_query = 15;    ///< queries per class; with kDirichlet the average
  int64_t most_shots = 0;  ///< above k_shot the task is ragged: each class's shots are uniform in [k_shot, most_shots]
  int64_t unlabelled = 0;  ///< images per class in the pool that semi-supervised methods use instead of the queries
  QueryDistribution query_distribution = QueryDistribution::kBalanced;
  double alpha = 2.0;  ///< for kDirichlet; 2 is the value of Veilleux et al. 2021, "Realistic evaluation of
                       ///< transductive few-shot learning"

  /// Whether classes may have different numbers of shots.
  [[nodiscard]] bool ragged() const { return most_shots > k_shot; }
};

/// One task: classes and, per class, rows of a FeatureSet. No row appears twice.
struct Episode {
  std::vector<int64_t> classes;                 ///< [n_way], indices into class_names
  std::vector<std::vector<int64_t>> support;    ///< [n_way][k_shot] rows
  std::vector<std::vector<int64_t>> query;      ///< [n_way][n_query] rows; with kDirichlet a class may have none
  std::vector<std::vector<int64_t>> pool = {};  ///< [n_way][unlabelled] rows; empty without a pool
};

/// Options for drawing episodes.
struct EpisodeOptions {
  Split split = Split::kNovel;
  EpisodeShape shape;
  int64_t count = 600;  ///< the usual number (Chen et al. 2019)
  uint64_t seed = 1;
};

}  // namespace protocom::v0

namespace protocom {
using v0::Episode;
using v0::EpisodeOptions;
using v0::EpisodeShape;
using v0::QueryDistribution;
using v0::Split;
}  // namespace protocom
