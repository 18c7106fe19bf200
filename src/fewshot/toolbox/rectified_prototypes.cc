#include "fewshot/toolbox/detail/rectified_prototypes.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom {
namespace {

/// Cosines [b, s + u, n] of all points with the class means, unlabelled ones after the shift. By products of the points
/// as they are: x + t has with m the product x.m + t.m and the squared length |x|^2 + 2 x.t + |t|^2.
at::Tensor cosines(const EpisodePoints& points, const at::Tensor& means, const at::Tensor& shift) {
  constexpr double kShortest = 1e-12;
  const at::Tensor x = points.learned_from(points.features);
  const at::Tensor to = at::cat({means, shift}, 1);  // [b, n + 1, d]
  const at::Tensor inner = inner_products(x, to).transpose(1, 2).contiguous().transpose(1, 2);
  const at::Tensor of_shift = inner_products(shift, to);  // [b, 1, n + 1]
  const int64_t n = means.size(1);
  at::Tensor dots = inner.slice(2, 0, n).clone();  // [b, s + u, n]
  at::Tensor squares = are_plain_rows(x) ? row_squares(x) : x.square().sum(-1, true);
  points.unlabelled_of(dots).add_(of_shift.slice(2, 0, n));
  points.unlabelled_of(squares).add_(points.unlabelled_of(inner.slice(2, n)), 2).add_(of_shift.slice(2, n));
  const at::Tensor lengths = squares.clamp_min_(0).sqrt_().clamp_min_(kShortest);
  return dots / lengths / means.norm(2, -1).clamp_min(kShortest).unsqueeze(1);
}

/// Sums [b, n, d] of the points by weights [b, s + u, n], unlabelled ones after the shift.
at::Tensor weighted_sums(const EpisodePoints& points, const at::Tensor& weights, const at::Tensor& shift) {
  const at::Tensor shifted = points.unlabelled_of(weights).sum(1).unsqueeze(-1);  // [b, n, 1]
  return at::matmul(weights.transpose(1, 2), points.learned_from(points.features)) + shifted * shift;
}

/// The prototypes among the supports; `means` are those of the classes' supports.
at::Tensor among_supports(const EpisodePoints& points, const at::Tensor& means, const at::Tensor& shift,
                          const RectifyOptions& options) {
  const at::Tensor labels = points.learned_from(points.labels);
  const at::Tensor cosine = cosines(points, means, shift);
  const at::Tensor nearest = at::zeros_like(cosine).scatter_(-1, cosine.argmax(-1, true), 1);
  if (options.variant == "sum") {
    const at::Tensor member = at::cat({points.supports_of(labels), points.unlabelled_of(nearest)}, 1);
    const at::Tensor weights = (options.scale * (cosine - 1)).exp() * member;  // less 1: a factor that falls out
    return weighted_sums(points, weights, shift) / weights.sum(1).unsqueeze(-1);
  }
  const at::Tensor present = at::cat(
      {points.supports_of(labels).sum(-1, true), at::ones_like(points.unlabelled_of(cosine).slice(2, 0, 1))}, 1);
  const at::Tensor member = nearest * present;
  const at::Tensor weights = class_softmax(options.scale * cosine) * member;
  const at::Tensor count = member.sum(1).unsqueeze(-1);  // [b, n, 1]
  const at::Tensor rectified = weighted_sums(points, weights, shift) / count.clamp_min(1);
  return at::where(count > 0, rectified, means);
}

}  // namespace

at::Tensor rectified_prototypes(const EpisodePoints& points, const RectifyOptions& options) {
  const at::Tensor support = points.supports_of(points.features);
  const at::Tensor means =
      at::matmul(points.supports_of(points.labels).transpose(1, 2), support) / points.shots().unsqueeze(-1);
  if (points.unlabelled == 0) return means;
  const at::Tensor shift = points.mean_support() - points.mean_unlabelled();  // [b, 1, d]
  const at::Tensor prototypes = among_supports(points, means, shift, options);
  return options.moved_back ? prototypes - shift : prototypes;
}

}  // namespace protocom
