#pragma once
#include <optional>

#include "protocom/data/packed_images.h"
#include "protocom/nn/backbone.h"
#include "protocom/train/pretrain.h"

namespace protocom {

/// A fixed set of few-shot episodes on the val classes, to compare the epochs of a training with.
class EpisodicValidation {
 public:
  struct Accuracy {
    double mean = 0;  ///< in [0, 1]
    double ci95 = 0;  ///< 1.96 * std / sqrt(episodes)
  };

  /// Throws UsageError for options out of range.
  EpisodicValidation(const PackedImages& images, const ValidationOptions& options, uint64_t seed);

  /// Whether there are two val classes with enough images, and episodes are asked for.
  [[nodiscard]] bool possible() const { return !episodes_.empty(); }

  /// Nearest class mean by cosine on features [n, d] of images().
  [[nodiscard]] Accuracy accuracy(const at::Tensor& features) const;

  /// The val images that the episodes draw from.
  [[nodiscard]] const PackedImages& images() const { return images_; }

 private:
  void select(const PackedImages& images, int64_t images_per_class);
  void draw(const ValidationOptions& options, uint64_t seed);

  struct Episode {
    at::Tensor support;  // int64 [n_way * k_shot], rows by class
    at::Tensor query;    // int64 [n_way * n_query], rows by class
  };

  PackedImages images_;
  std::vector<std::vector<int64_t>> rows_by_class_;
  std::vector<Episode> episodes_;
  int64_t n_way_ = 0;
};

}  // namespace protocom
