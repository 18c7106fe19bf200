#pragma once
#include <string>
#include <vector>

#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

/// The prototypes of BD-CSPN (Liu, Song, Qin, ECCV 2020), [b, n, d]: unlabelled images, moved by the difference between
/// the supports' and their own mean, join the supports under pseudo-labels, each with a weight w by its cosine to the
/// class means. Variants:
///   mean  every point goes to its nearest class mean by cosine; w = softmax over classes of scale * cosine; the
///         prototype is the sum of w x over the number of points (Veilleux et al., NeurIPS 2021, with scale 10)
///   sum   supports keep their labels; w = exp(scale * cosine); the prototype is the sum of w x over the sum of w
///         (equations 9 and 10 of the paper; Bennequin's easyfsl with scale 1)
struct RectifyOptions {
  std::string variant = "mean";
  double scale = 10;
  /// Moved back by that difference: what they are among the unlabelled images as these are.
  bool moved_back = false;
};

at::Tensor rectified_prototypes(const EpisodePoints& points, const RectifyOptions& options);

}  // namespace protocom
