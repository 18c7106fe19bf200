#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/feature_set.h"
#include "protocom/episode.h"

namespace protocom::v0 {
/// Returns "balanced" or "dirichlet".
std::string_view to_string(QueryDistribution distribution);
}  // namespace protocom::v0

namespace protocom {
using v0::to_string;

/// Throws UsageError for anything else.
QueryDistribution parse_query_distribution(std::string_view text);

/// Tasks of one shape.
struct EpisodeList {
  EpisodeShape shape;
  Split split = Split::kNovel;
  uint64_t seed = 0;  ///< 0 if the list was not drawn by protocom
  std::vector<Episode> episodes;

  /// Returns hash_bytes of the list's canonical JSON: equal for equal tasks, in every program that writes the same
  /// file.
  [[nodiscard]] std::string hash(const FeatureSet& features) const;
};

/// Draws tasks from the classes of a split: classes, then images, uniformly without replacement. Episode i depends only
/// on (seed, i), and a pool does not change its classes, supports and queries. With kDirichlet the proportions times
/// n_way * n_query are rounded by largest remainders; queries that exceed a class's images go to the others. Throws
/// Error if the split has fewer than n_way classes or a class fewer than max(k_shot, most_shots) + n_query + unlabelled
/// images (it is named).
EpisodeList sample_episodes(const FeatureSet& features, const EpisodeOptions& options);

/// Writes JSON: {"n_way", "k_shot", "n_query", "split", "seed", "episodes": [{"classes": [names], "support": [[ids]],
/// "query": [[ids]]}]}; ragged tasks also have "most_shots", those with a pool "unlabelled" and "pool": [[ids]] in
/// every episode, those with unbalanced queries "query_distribution" and "alpha". Throws Error.
void write_episodes(const std::filesystem::path& path, const EpisodeList& list, const FeatureSet& features);

/// Reads such a file for these features. Throws Error that names the episode: unknown class or image, class of another
/// split than the list's, image of another class, repeated image, sizes that differ from the shape.
EpisodeList read_episodes(const std::filesystem::path& path, const FeatureSet& features);

}  // namespace protocom
