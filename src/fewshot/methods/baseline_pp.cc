#include <ATen/ATen.h>

#include <cmath>

#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/cosine_classifier.h"
#include "fewshot/toolbox/detail/episode_points.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 15;
  int64_t steps = 100;
  double learning_rate = 1e-3;
};

/// Adam (Kingma and Ba, 2015) on one tensor with gradients that are given: beta .9 and .999, epsilon 1e-8.
class Adam {
 public:
  Adam(const at::Tensor& like, double rate)
      : rate_(rate), first_(at::zeros_like(like)), second_(at::zeros_like(like)) {}

  /// Moves `x` by one step.
  void step(at::Tensor& x, const at::Tensor& gradient) {
    constexpr double kFirst = 0.9;
    constexpr double kSecond = 0.999;
    constexpr double kEpsilon = 1e-8;
    ++steps_;
    first_.mul_(kFirst).add_(gradient, 1 - kFirst);
    second_.mul_(kSecond).addcmul_(gradient, gradient, 1 - kSecond);
    const double first_weight = 1 - std::pow(kFirst, steps_);
    const double root_weight = std::sqrt(1 - std::pow(kSecond, steps_));
    x.addcdiv_(first_, second_.sqrt().div_(root_weight).add_(kEpsilon), -rate_ / first_weight);
  }

 private:
  double rate_;
  int steps_ = 0;
  at::Tensor first_, second_;
};

at::Tensor fitted(const EpisodePoints& points, const Options& options) {
  const at::Tensor x = unit_vectors(points.supports_of(points.features));  // [b, s, d]
  const at::Tensor y = points.supports_of(points.labels);                  // [b, s, n]
  const at::Tensor present = y.sum(-1, true);
  const at::Tensor share = present / present.sum(1, true);  // each support's part of the mean loss
  at::Tensor weights = at::matmul(y.transpose(1, 2), x) / y.sum(1).unsqueeze(-1);
  Adam adam(weights, options.learning_rate);
  for (int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor unit = unit_vectors(weights);
    const at::Tensor p = (options.scale * at::matmul(x, unit.transpose(1, 2))).softmax(-1);
    const at::Tensor of_unit = options.scale * at::matmul((residuals(p, y) * share).transpose(1, 2), x);
    // Through u = w / |w|: what is left of the gradient across u, over |w|.
    const at::Tensor across = of_unit - unit * (unit * of_unit).sum(-1, true);
    adam.step(weights, across / weights.norm(2, -1, true).clamp_min(1e-12));
  }
  return weights;
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const at::Tensor weights = fitted(supports_and_queries(batch), options);
  return {options.scale * protocom::cosine_similarity(batch.query, weights), weights};
}

}  // namespace

MethodDefinition baseline_pp() {
  MethodSpec spec;
  spec.name = "baseline-pp";
  spec.about = "cosine classifier fitted on the supports of each episode";
  spec.citation = "Chen, Liu, Kira, Wang, Huang: A Closer Look at Few-shot Classification, ICLR 2019";
  spec.notes =
      "Starts at the mean of the unit supports instead of at random; Adam, scale and steps as in Veilleux et al., "
      "NeurIPS 2021, whose code however fits with Euclidean logits: here fitting and answer both use the cosine.";
  return define_answer(std::move(spec), &answer,
                       Parameters<Options>()
                           .real("scale", &Options::scale, {1e-6}, "factor of the cosine")
                           .tries({"5", "10", "30"})
                           .whole("steps", &Options::steps, {0, 1e6}, "of Adam")
                           .tries({"30", "300"})
                           .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam")
                           .tries({"1e-2"}));
}

}  // namespace protocom::methods
