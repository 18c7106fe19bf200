#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "fewshot/episode_batch.h"

namespace protocom {

/// Episodes of one shape as rows of a table of features: b episodes of n classes with up to k supports, q queries and u
/// unlabelled images.
struct RowBatch {
  int64_t n = 0;                    ///< classes
  int64_t k = 0;                    ///< most supports of a class
  int64_t q = 0;                    ///< queries
  int64_t u = 0;                    ///< unlabelled images; 0: there is no pool
  std::vector<int64_t> classes;     ///< [b * n], rows of the KnowledgeTable
  std::vector<int64_t> support;     ///< [b * n * k], -1 where a class has fewer than k
  std::vector<int64_t> query;       ///< [b * q]
  std::vector<int64_t> unlabelled;  ///< [b * u]
  std::vector<uint64_t> seed;       ///< [b]
  std::vector<float> shares = {};   ///< [b * n], see EpisodeBatch::shares; empty: not told

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(seed.size()); }
};

/// The rows of a batch as tensors, of a table float16 or float32 [m, d].
EpisodeBatch gather(const at::Tensor& table, const RowBatch& rows);

/// The episodes [begin, end) of a batch.
RowBatch part_of(const RowBatch& rows, int64_t begin, int64_t end);

}  // namespace protocom
