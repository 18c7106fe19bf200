#pragma once
#include "fewshot/episode_batch.h"

namespace protocom {

/// The images of b episodes as one list each: the supports, the unlabelled images (the queries, or the pool in their
/// place), and after a pool the queries. What a transductive method learns, it learns from the first two.
struct EpisodePoints {
  at::Tensor features;  ///< [b, m, d]; zeros where a class has fewer supports than others
  at::Tensor labels;    ///< [b, m, n]: 1 where a support has its class, else 0; class by class in memory
  int64_t supports = 0;
  int64_t unlabelled = 0;
  int64_t queries = 0;

  /// Rows of a tensor [b, m, ...].
  [[nodiscard]] at::Tensor supports_of(const at::Tensor& rows) const { return rows.slice(1, 0, supports); }
  [[nodiscard]] at::Tensor unlabelled_of(const at::Tensor& rows) const {
    return rows.slice(1, supports, supports + unlabelled);
  }
  [[nodiscard]] at::Tensor queries_of(const at::Tensor& rows) const {
    return rows.slice(1, rows.size(1) - queries, rows.size(1));
  }
  /// Supports and unlabelled images.
  [[nodiscard]] at::Tensor learned_from(const at::Tensor& rows) const {
    return rows.slice(1, 0, supports + unlabelled);
  }

  /// Supports a class, [b, n].
  [[nodiscard]] at::Tensor shots() const { return labels.sum(1); }
  /// [b, m, n]: the supports' labels and, for unlabelled images, `responsibilities` [b, u, n]; zeros for the rest.
  [[nodiscard]] at::Tensor with_unlabelled(const at::Tensor& responsibilities) const;
  /// Mean of the supports, and of the unlabelled images, [b, 1, d].
  [[nodiscard]] at::Tensor mean_support() const;
  [[nodiscard]] at::Tensor mean_unlabelled() const;
};

/// Throws Error for a batch without its support images: a recognizer keeps the count and sum of a large class alone.
void expect_support_images(const EpisodeBatch& batch);

EpisodePoints episode_points(const EpisodeBatch& batch);

/// p - y of probabilities and labels [..., n], exact also where p is nearly y: at a point's own class it is minus the
/// sum of the others, which 1 - p would round away. Zeros where a point has no label.
at::Tensor residuals(const at::Tensor& probabilities, const at::Tensor& labels);

/// The same without unlabelled images: supports, then queries.
EpisodePoints supports_and_queries(const EpisodeBatch& batch);

}  // namespace protocom
