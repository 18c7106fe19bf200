#include "fewshot/rectified_prototypes.h"

#include <ATen/ATen.h>

#include "protocom/fewshot/cosine_classifier.h"

namespace protocom {

at::Tensor rectified_prototypes(const EpisodePoints& points, const RectifyOptions& options) {
  const at::Tensor labels = points.learned_from(points.labels);
  const at::Tensor support = points.supports_of(points.features);
  const at::Tensor means =
      at::matmul(points.supports_of(labels).transpose(1, 2), support) / points.shots().unsqueeze(-1);
  if (points.unlabelled == 0) return means;
  const at::Tensor shift = points.mean_support() - points.mean_unlabelled();
  const at::Tensor x = at::cat({support, points.unlabelled_of(points.features) + shift}, 1);  // [b, s + u, d]
  const at::Tensor cosine = protocom::cosine_similarity(x, means);
  const at::Tensor nearest = at::zeros_like(cosine).scatter_(-1, cosine.argmax(-1, true), 1);
  if (options.variant == "sum") {
    const at::Tensor member = at::cat({points.supports_of(labels), points.unlabelled_of(nearest)}, 1);
    const at::Tensor weights = (options.scale * (cosine - 1)).exp() * member;  // less 1: a factor that falls out
    return at::matmul(weights.transpose(1, 2), x) / weights.sum(1).unsqueeze(-1);
  }
  const at::Tensor present = at::cat(
      {points.supports_of(labels).sum(-1, true), at::ones_like(points.unlabelled_of(cosine).slice(2, 0, 1))}, 1);
  const at::Tensor member = nearest * present;
  const at::Tensor weights = (options.scale * cosine).softmax(-1) * member;
  const at::Tensor count = member.sum(1).unsqueeze(-1);  // [b, n, 1]
  const at::Tensor rectified = at::matmul(weights.transpose(1, 2), x) / count.clamp_min(1);
  return at::where(count > 0, rectified, means);
}

}  // namespace protocom
