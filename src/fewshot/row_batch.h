#pragma once
#include <cstdint>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Episodes of one shape as rows of a table of features: b episodes of n classes with up to k supports, q queries and u
/// unlabelled images.
struct RowBatch {
  int64_t n = 0;                    ///< classes
  int64_t k = 0;                    ///< most supports of a class
  int64_t q = 0;                    ///< queries
  int64_t u = 0;                    ///< unlabelled images; 0: there is no pool
  std::vector<int64_t> classes;     ///< [b * n], rows of the KnowledgeTable
  std::vector<int64_t> support;     ///< [b * n * k], -1 if a class has fewer than k
  std::vector<int64_t> query;       ///< [b * q]
  std::vector<int64_t> unlabelled;  ///< [b * u]
  std::vector<uint64_t> seed;       ///< [b]
  std::vector<float> shares = {};   ///< [b * n], see Task::shares; empty: not given

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(seed.size()); }
};

/// Returns the episodes [begin, end) of a batch.
RowBatch part_of(const RowBatch& rows, int64_t begin, int64_t end);

/// Answers of a method for a batch.
struct EpisodeScores {
  Array logits;           ///< float32 [b, q, n]: the largest wins, softmax over n gives the classes' probabilities
  Array prototypes = {};  ///< float32 [b, n, d] in the features' own space; undefined for a method without prototypes
  Array unseen = {};      ///< float32 [b, q]: logit of a class that was never seen; undefined if the method gives none
};

}  // namespace protocom
