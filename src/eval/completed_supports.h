#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "feature_rows.h"
#include "protocom/data/episodes.h"
#include "protocom/fewshot/completer.h"

namespace protocom {

/// Completed prototypes of a list's episodes, many at a time. With one shot a completion depends on the support's row
/// alone, and a list draws the same rows again and again: each is then completed once.
class CompletedSupports {
 public:
  /// All must outlive this.
  CompletedSupports(const FeatureSet& features, const FeatureRows& rows, const Completer& completer,
                    const EpisodeList& list);

  /// Makes the episodes [begin, end) ready. Not while others read.
  void prepare(size_t begin, size_t end);

  /// The completed prototype of class `i` of `episode`, which was made ready: [rows.dim()].
  [[nodiscard]] const float* of(size_t episode, size_t i) const;

 private:
  void complete_each_row_once();
  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const std::vector<int64_t>& classes) const;

  const FeatureSet& features_;
  const FeatureRows& rows_;
  const Completer& completer_;
  const EpisodeList& list_;
  std::vector<int64_t> place_of_row_;  // with one shot: in completed_
  std::vector<int64_t> place_of_episode_;
  size_t first_ = 0;
  at::Tensor completed_;  // [m, dim]
};

}  // namespace protocom
