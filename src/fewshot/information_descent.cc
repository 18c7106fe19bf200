#include "fewshot/information_descent.h"

#include <ATen/ATen.h>

#include "fewshot/adam.h"
#include "fewshot/dense_layer.h"
#include "fewshot/row_products.h"
#include "fewshot/span.h"

namespace protocom {
namespace {

constexpr double kTiny = 1e-12;

/// Derivative of the entropy in each probability, but for what all classes share.
at::Tensor entropy_slope(const at::Tensor& p, double alpha) {
  if (alpha == 1) return -(p + kTiny).log();
  if (alpha == 2) return p * -2;
  return p.pow(alpha - 1) * (-alpha / (alpha - 1));
}

/// Adam's steps on the class weights, whose products with the points are layers.
class Descent {
 public:
  Descent(const EpisodePoints& points, const InformationLoss& loss)
      : points_(points),
        loss_(loss),
        labels_(points.supports_of(points.labels)),
        weights_(at::matmul(points.labels.transpose(1, 2), points.features) / points.shots().unsqueeze(-1)) {
    const at::Tensor x = points.learned_from(points.features);
    logits_ = DenseLayers(x);
    gradient_ = DenseLayers(x.transpose(1, 2));
    const at::Tensor present = labels_.sum(-1, true);
    share_ = loss.cross_entropy * present / present.sum(1, true);
  }

  at::Tensor run(const DescentOptions& options) {
    Adam adam(weights_, options.rate);
    for (int64_t step = 0; step < options.steps; ++step) adam.step(weights_, gradient());
    return weights_;
  }

 private:
  /// In the weights, [b, n, d].
  [[nodiscard]] at::Tensor gradient() const {
    const at::Tensor half = weights_.square().sum(-1, true) / 2;  // [b, n, 1]
    const at::Tensor p = class_softmax((logits_.apply(weights_) - half).mul_(loss_.temperature).transpose(1, 2));
    const at::Tensor of_logits = logit_gradient(p).transpose(1, 2);  // [b, n, s + u]
    return gradient_.apply(of_logits).sub(of_logits.sum(-1, true) * weights_).mul_(loss_.temperature);
  }

  /// In the logits of supports and unlabelled images, [b, s + u, n].
  [[nodiscard]] at::Tensor logit_gradient(const at::Tensor& probabilities) const {
    const at::Tensor of_support = residuals(points_.supports_of(probabilities), labels_) * share_;
    if (points_.unlabelled == 0) return of_support;
    const at::Tensor p = points_.unlabelled_of(probabilities);
    const at::Tensor slope = loss_.conditional * entropy_slope(p, loss_.alpha) -
                             loss_.marginal * entropy_slope(p.mean(1, true), loss_.alpha);
    const at::Tensor through_softmax = p * (slope - (p * slope).sum(-1, true));
    return at::cat({of_support, through_softmax / static_cast<double>(points_.unlabelled)}, 1);
  }

  EpisodePoints points_;
  InformationLoss loss_;
  at::Tensor labels_;   // [b, s, n]
  at::Tensor share_;    // [b, s, 1], of the cross-entropy
  at::Tensor weights_;  // [b, n, d]
  DenseLayers logits_, gradient_;
};

}  // namespace

at::Tensor euclidean_logits(const at::Tensor& points, const at::Tensor& weights, double temperature) {
  const at::Tensor half = weights.square().sum(-1).unsqueeze(1) / 2;  // [b, 1, n]
  return temperature * (inner_products(points, weights) - half);
}

at::Tensor information_descent(const EpisodePoints& points, const InformationLoss& loss,
                               const DescentOptions& options) {
  return Descent(points, loss).run(options);
}

}  // namespace protocom
