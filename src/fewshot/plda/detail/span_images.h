#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fewshot/episode_batch.h"
#include "fewshot/toolbox/detail/tridiagonal.h"

namespace protocom {

/// Of a feature's squared length: nearer to the center, its direction is rounding.
inline constexpr double kLeastLength = 1e-3;

/// The labelled images of an episode, class by class.
struct SpanLabels {
  std::vector<int64_t> labels;  // [m]
  std::vector<double> count;    // [n]
  std::vector<int64_t> there;   // [m], of supports [n, k] in a row; only where these are tensors

  [[nodiscard]] int64_t labelled() const { return static_cast<int64_t>(labels.size()); }
  [[nodiscard]] int64_t classes() const { return static_cast<int64_t>(count.size()); }
  [[nodiscard]] double count_of(size_t image) const { return count[static_cast<size_t>(labels[image])]; }
};

/// Those of an episode, on the CPU; nothing where a support counts in part.
std::optional<SpanLabels> span_labels(const EpisodeBatch& episode);

/// Whether a class has an image twice, by rows [m] of `length` numbers.
bool has_copies(const SpanLabels& labels, const std::vector<const float*>& rows, int64_t length);

/// All images of an episode, labelled ones first.
struct SpanImages : SpanLabels {
  at::Tensor features;  // float32 [m + q, d]
  bool root = false;    // whether features stand for their roots
};

/// Those of an episode; nothing where span_labels() gives nothing or a class has an image twice.
std::optional<SpanImages> span_images(const EpisodeBatch& episode);

/// Images by their coordinates in an orthonormal basis of what the labelled ones span.
struct SpanCoordinates {
  VectorColumns in;             // [r, m + q]
  std::vector<double> outside;  // [m + q], squared length of what is left
};

/// Those of z = (x - c) / |x - c| less the mean of its class means, where c is `share` of the mean of the labelled
/// class means. Only inner products with the labelled images are formed, in float32. Nothing where an image's direction
/// is rounding.
std::optional<SpanCoordinates> span_coordinates(const SpanImages& images, double share);

}  // namespace protocom
