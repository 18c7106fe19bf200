#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fewshot/toolbox/tridiagonal.h"
#include "protocom/fewshot/episode_batch.h"

namespace protocom {

/// The labelled images of an episode, and all its images, labelled ones first.
struct SpanImages {
  at::Tensor features;          // float32 [m + q, d]
  bool root = false;            // whether features stand for their roots
  std::vector<int64_t> labels;  // [m]
  std::vector<double> count;    // [n]

  [[nodiscard]] int64_t labelled() const { return static_cast<int64_t>(labels.size()); }
  [[nodiscard]] int64_t classes() const { return static_cast<int64_t>(count.size()); }
  [[nodiscard]] double count_of(size_t image) const { return count[static_cast<size_t>(labels[image])]; }
};

/// Those of an episode, on the CPU; nothing where a support counts in part.
std::optional<SpanImages> span_images(const EpisodeBatch& episode);

/// Whether a class has an image twice.
bool has_copies(const SpanImages& images);

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
