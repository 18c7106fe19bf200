#include "fewshot/toolbox/detail/centred_points.h"

#include <ATen/ATen.h>

#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// Unit vectors, and zeros again where there is no support.
at::Tensor unit_points(const EpisodePoints& points, const at::Tensor& centred) {
  at::Tensor unit = unit_vectors(centred);
  points.supports_of(unit).mul_(points.supports_of(points.labels).sum(-1, true));
  return unit;
}

}  // namespace

EpisodePoints centred_together(EpisodePoints points) {
  const at::Tensor count = points.shots().sum(1).view({-1, 1, 1}) + static_cast<double>(points.unlabelled);
  const at::Tensor mean = points.learned_from(points.features).sum(1, true) / count;
  points.features = unit_points(points, points.features - mean);
  return points;
}

}  // namespace protocom
