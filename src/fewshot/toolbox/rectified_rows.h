#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fewshot/toolbox/rectified_prototypes.h"
#include "fewshot/toolbox/row_episode.h"

namespace protocom {

/// rectified_prototypes() of one episode after the other whose rows are read where they lie. One a thread.
class RectifiedRows {
 public:
  explicit RectifiedRows(RectifyOptions options) : options_(std::move(options)) {}

  /// [n, dim]; valid until the next call.
  const std::vector<float>& place(const RowEpisode& episode);

 private:
  void place_dots(const RowEpisode& episode);
  void place_cosines(const RowEpisode& episode);
  void place_weights(const RowEpisode& episode);
  void place_sums(const RowEpisode& episode);

  RectifyOptions options_;
  int64_t stride_ = 0;
  std::vector<float> means_;               // [n, dim]
  std::vector<float> shift_, other_mean_;  // [dim], the second of the unlabelled
  std::vector<float> dots_;                // [s + u, n]
  std::vector<float> shift_dots_;          // [s + u]
  std::vector<float> cosines_, shares_;    // [n, stride]
  std::vector<int64_t> nearest_;           // [s + u]
  std::vector<float> weights_;             // [s + u]
  std::vector<const float*> members_;      // of one class
  std::vector<float> member_weights_;
  std::vector<float> total_, moved_, count_;  // [n]: of the weights; of those of unlabelled points; members
  std::vector<float> prototypes_;             // [n, dim]
};

}  // namespace protocom
