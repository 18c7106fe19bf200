#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/feature_set.h"

namespace protocom {

/// How an episode's n_way * n_query queries are spread over its classes.
enum class QueryDistribution {
  kBalanced,  ///< n_query of each
  kDirichlet  ///< proportions drawn from Dirichlet(alpha, ..., alpha): what a transductive method meets in practice
};

/// "balanced" or "dirichlet".
std::string_view to_string(QueryDistribution distribution);
/// Throws UsageError for anything else.
QueryDistribution parse_query_distribution(std::string_view text);

/// The shape of a few-shot task.
struct EpisodeShape {
  int64_t n_way = 5;
  int64_t k_shot = 1;      ///< labelled images per class; the fewest of a ragged task
  int64_t n_query = 15;    ///< queries per class, with kDirichlet on average
  int64_t most_shots = 0;  ///< above k_shot the task is ragged: each class's shots are uniform in [k_shot, most_shots]
  int64_t unlabelled = 0;  ///< images per class of the pool that semi-supervised methods use instead of the queries
  QueryDistribution query_distribution = QueryDistribution::kBalanced;
  double alpha = 2.0;  ///< of kDirichlet; 2 is the value of Veilleux et al. 2021, "Realistic evaluation of transductive
                       ///< few-shot learning"

  /// Whether classes may have different numbers of shots.
  [[nodiscard]] bool ragged() const { return most_shots > k_shot; }
};

/// One task: classes and, per class, rows of a FeatureSet. No row appears twice.
struct Episode {
  std::vector<int64_t> classes;                 ///< [n_way], indices into class_names
  std::vector<std::vector<int64_t>> support;    ///< [n_way][k_shot] rows
  std::vector<std::vector<int64_t>> query;      ///< [n_way][n_query] rows; possibly none of a class with kDirichlet
  std::vector<std::vector<int64_t>> pool = {};  ///< [n_way][unlabelled] rows; empty without a pool
};

/// Tasks of one shape.
struct EpisodeList {
  EpisodeShape shape;
  Split split = Split::kNovel;
  uint64_t seed = 0;  ///< 0 when the list was not drawn by protocom
  std::vector<Episode> episodes;

  /// hash_bytes of the list's canonical JSON: equal tasks, equal hash, in every program that writes the same file.
  [[nodiscard]] std::string hash(const FeatureSet& features) const;
};

/// Which episodes to draw.
struct EpisodeOptions {
  Split split = Split::kNovel;
  EpisodeShape shape;
  int64_t count = 600;  ///< the field's number (Chen et al. 2019)
  uint64_t seed = 1;
};

/// Draws tasks from the classes of a split: classes, then images, uniformly without replacement. Episode i
/// depends on (seed, i) only, and a pool leaves its classes, supports and queries as they are without one. With
/// kDirichlet the proportions times n_way * n_query are rounded by largest remainders; what a class has no images for
/// goes to the others. Throws Error when the split has fewer than n_way classes or a class fewer than
/// max(k_shot, most_shots) + n_query + unlabelled images (it is named).
EpisodeList sample_episodes(const FeatureSet& features, const EpisodeOptions& options);

/// JSON: {"n_way", "k_shot", "n_query", "split", "seed", "episodes": [{"classes": [names], "support": [[ids]], "query":
/// [[ids]]}]}; ragged tasks also have "most_shots", those with a pool "unlabelled" and "pool": [[ids]] in every
/// episode, those with unbalanced queries "query_distribution" and "alpha". Throws Error.
void write_episodes(const std::filesystem::path& path, const EpisodeList& list, const FeatureSet& features);

/// Reads such a file against the features it is to be run on. Throws Error that names the episode: unknown class or
/// image, class of another split than the list's, image of another class, image twice, sizes that differ from the
/// shape.
EpisodeList read_episodes(const std::filesystem::path& path, const FeatureSet& features);

}  // namespace protocom
