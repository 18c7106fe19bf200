#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "protocom/fewshot/methods.h"

namespace protocom {

/// Episodes of one shape as rows of a table of features: b episodes of n classes with up to k supports, q queries and u
/// unlabelled images.
struct RowBatch {
  int64_t n = 0;                    ///< classes
  int64_t k = 0;                    ///< most supports of a class
  int64_t q = 0;                    ///< queries
  int64_t u = 0;                    ///< unlabelled images; 0: there is no pool
  std::vector<int64_t> classes;     ///< [b * n], rows of the ClassKnowledge
  std::vector<int64_t> support;     ///< [b * n * k], -1 where a class has fewer than k
  std::vector<int64_t> query;       ///< [b * q]
  std::vector<int64_t> unlabelled;  ///< [b * u]
  std::vector<uint64_t> seed;       ///< [b]
  std::vector<float> shares = {};   ///< [b * n], see EpisodeBatch::shares; empty: not told

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(seed.size()); }
};

/// The rows of a batch as tensors, of a table float16 or float32 [m, d].
EpisodeBatch gather(const at::Tensor& table, const RowBatch& rows);

/// Several methods, prepared for one table of features. Methods that have a hand-made fast form (the paper's rows,
/// which share most of their work) use it; all others get tensors, those that need them of the context's feature maps,
/// a few episodes at a time. The fast form gives what the tensors give but for the rounding of sums, the same to the
/// last bit however rows are batched and on any number of threads (benchmarks/method_benchmark.cc says what it is
/// worth). Thread-safe.
class ScorerGroup {
 public:
  /// Throws Error when a method's needs are not met (check_needs) or sizes do not fit. `table` is float32 [m, d], a
  /// row of it and of the context's maps is one image; all that is given must outlive the group.
  ScorerGroup(const Methods& methods, const MethodContext& context, const at::Tensor& table);
  ~ScorerGroup();

  /// The scores of each method, in their order. Rows must exist.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
