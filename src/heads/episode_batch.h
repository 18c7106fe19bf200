#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace protocom {

/// Episodes of one shape, as features: b episodes of n classes with up to k supports, q queries and u unlabelled
/// images. float32, on one device. For a method that needs feature maps, a feature is a map [c, h, w] flattened to a
/// row.
struct EpisodeBatch {
  at::Tensor support;       ///< [b, n, k, d]; zeros where a class has fewer than k
  at::Tensor support_mask;  ///< [b, n, k], 1 if there is a support, else 0; undefined: none is missing
  at::Tensor query;         ///< [b, q, d]; q may be 0
  at::Tensor unlabelled;    ///< [b, u, d]; undefined: a transductive method uses the queries
  at::Tensor classes;       ///< int64 [b, n], rows of the KnowledgeTable; undefined when no method needs knowledge
  at::Tensor shares = {};   ///< [b, n], class shares of the unlabelled, for methods that take them; else undefined
  std::vector<uint64_t> seed = {};  ///< [b], for methods that draw; empty: 0 for all

  [[nodiscard]] int64_t size() const { return query.size(0); }
};

/// Throws Error if sizes, types or devices do not fit one another, or a class has fewer supports.
void check_batch(const EpisodeBatch& batch, int64_t fewest_shots = 1);

/// Contribution of the labelled images of each class to prototypes and distributions. Additive, so it also serves
/// classes of unequal shots and stores that keep no single feature. Leading dimensions (episodes) are shared by all
/// three.
struct SupportStatistics {
  at::Tensor count;        ///< float32 [..., n]
  at::Tensor sum;          ///< float32 [..., n, d]
  at::Tensor sum_squares;  ///< float32 [..., n, d]
};

/// Returns the statistics of supports [..., n, k, d], k shots for each of n classes.
SupportStatistics support_statistics(const at::Tensor& support);

/// Returns the statistics of a batch's supports, [b, n, ...].
SupportStatistics statistics_of(const EpisodeBatch& batch);

/// Returns the mean prototypes p_k (equation 6), float32 [..., n, d].
at::Tensor mean_prototypes(const SupportStatistics& support);

/// Returns [b, u, d]: the pool, or the queries if there is none.
const at::Tensor& unlabelled_of(const EpisodeBatch& batch);

/// Answers of a method of batched tensors for a batch.
struct BatchScores {
  at::Tensor logits;      ///< float32 [b, q, n]: the largest wins, softmax over n gives the classes' probabilities
  at::Tensor prototypes;  ///< float32 [b, n, d] in the features' own space; undefined for a method without prototypes
};

}  // namespace protocom
