#include "fewshot/information_descent.h"

#include <ATen/ATen.h>

#include "fewshot/adam.h"

namespace protocom {
namespace {

constexpr double kTiny = 1e-12;

/// Derivative of the entropy in each probability, but for what all classes share.
at::Tensor entropy_slope(const at::Tensor& p, double alpha) {
  if (alpha == 1) return -(p + kTiny).log();
  return p.pow(alpha - 1) * (-alpha / (alpha - 1));
}

/// Gradient in the logits of supports and unlabelled images, [b, s + u, n].
at::Tensor logit_gradient(const EpisodePoints& points, const at::Tensor& probabilities, const InformationLoss& loss) {
  const at::Tensor y = points.supports_of(points.labels);
  const at::Tensor present = y.sum(-1, true);
  const at::Tensor of_support =
      residuals(points.supports_of(probabilities), y) * (loss.cross_entropy * present / present.sum(1, true));
  if (points.unlabelled == 0) return of_support;
  const at::Tensor p = points.unlabelled_of(probabilities);
  const at::Tensor slope =
      loss.conditional * entropy_slope(p, loss.alpha) - loss.marginal * entropy_slope(p.mean(1, true), loss.alpha);
  const at::Tensor through_softmax = p * (slope - (p * slope).sum(-1, true));
  return at::cat({of_support, through_softmax / static_cast<double>(points.unlabelled)}, 1);
}

}  // namespace

at::Tensor euclidean_logits(const at::Tensor& points, const at::Tensor& weights, double temperature) {
  const at::Tensor half = weights.square().sum(-1).unsqueeze(1) / 2;  // [b, 1, n]
  return temperature * (at::matmul(points, weights.transpose(1, 2)) - half);
}

at::Tensor information_gradient(const EpisodePoints& points, const at::Tensor& weights, const InformationLoss& loss) {
  const at::Tensor x = points.learned_from(points.features);
  const at::Tensor p = euclidean_logits(x, weights, loss.temperature).softmax(-1);
  const at::Tensor gradient = loss.temperature * logit_gradient(points, p, loss);
  return at::matmul(gradient.transpose(1, 2), x) - gradient.sum(1).unsqueeze(-1) * weights;
}

at::Tensor information_descent(const EpisodePoints& points, const InformationLoss& loss,
                               const DescentOptions& options) {
  at::Tensor weights = at::matmul(points.labels.transpose(1, 2), points.features) / points.shots().unsqueeze(-1);
  Adam adam(weights, options.rate);
  for (int64_t step = 0; step < options.steps; ++step) adam.step(weights, information_gradient(points, weights, loss));
  return weights;
}

}  // namespace protocom
