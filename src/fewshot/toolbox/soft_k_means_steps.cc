#include "fewshot/toolbox/detail/soft_k_means_steps.h"

#include <ATen/ATen.h>

namespace protocom {

at::Tensor soft_k_means_steps(const EpisodePoints& points, const Span& span, const SoftKMeansOptions& options) {
  at::Tensor means = weighted_means(points.labels);
  for (int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor share = class_softmax(-options.sharpness * span.squared_distances(means));
    means = weighted_means(points.with_unlabelled(points.unlabelled_of(share)));
  }
  return means;
}

}  // namespace protocom
