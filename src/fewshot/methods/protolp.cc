#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/centred_points.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/detail/span.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 10;
  double share = 0.6;
  double rate = 0.2;
  int64_t steps = 100;
  int64_t dimensions = 40;
  std::string transform = "cl2n";
};

/// The points in the space of the largest singular values of supports and unlabelled images, [b, m, dimensions].
EpisodePoints reduced(EpisodePoints points, int64_t dimensions) {
  const at::Tensor x = points.learned_from(points.features);
  if (dimensions >= std::min(x.size(1), x.size(2))) return points;
  // With fewer images than dimensions the Gram matrix is the smaller one; X V of it is U S of the other.
  const bool few = x.size(1) < x.size(2);
  const at::Tensor square = few ? at::matmul(x, x.transpose(1, 2)) : at::matmul(x.transpose(1, 2), x);
  const auto [values, vectors] = at::linalg_eigh(square);  // rising
  const at::Tensor top = vectors.slice(2, vectors.size(2) - dimensions);
  at::Tensor axes = top;
  if (few) axes = unit_vectors(at::matmul(x.transpose(1, 2), top).transpose(1, 2)).transpose(1, 2);
  points.features = at::matmul(points.features, axes);
  return points;
}

at::Tensor at_unit_length(const Span& span, const at::Tensor& means) {
  const at::Tensor squares = Span::squared_lengths(means, span.products(means)).transpose(1, 2);
  return means / squares.clamp_min(1e-24).sqrt();
}

/// Z A with A = (Zs'Zs + I - Z'Z D^-1)^-1 Zs'Y, Z the supports' labels above `z`, D its column sums; balanced.
at::Tensor propagated(const EpisodePoints& points, const at::Tensor& z) {
  const at::Tensor all = points.with_unlabelled(z);
  const at::Tensor w = inner_products(all.transpose(1, 2), weighted_means(all));  // [b, n, n]
  const at::Tensor shots = at::diag_embed(points.shots());
  const at::Tensor laplacian = at::eye(w.size(1), w.options()) - w;
  const at::Tensor a = at::linalg_solve(shots + laplacian, shots);
  const at::Tensor by_class = at::matmul(a.transpose(1, 2), z.transpose(1, 2));  // [b, n, u]
  const at::Tensor logits = by_class.clamp_min(1e-12).log().transpose(1, 2);
  return class_softmax(logits + sinkhorn(logits, balanced_columns(logits)).unsqueeze(1));
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  EpisodePoints points = episode_points(batch);
  if (points.unlabelled > 0) points = centred_together(reduced(std::move(points), options.dimensions));
  const Span span(points.features);
  at::Tensor means = at_unit_length(span, weighted_means(points.labels));
  for (int64_t step = 0; step < options.steps && points.unlabelled > 0; ++step) {
    const at::Tensor z =
        class_softmax(points.unlabelled_of(transported(points, -options.lambda * span.squared_distances(means))));
    const at::Tensor mixed = options.share * propagated(points, z) + (1 - options.share) * z;
    means = means + options.rate * (weighted_means(points.with_unlabelled(mixed)) - means);
  }
  return {points.queries_of(transported(points, -options.lambda * span.squared_distances(means))), at::Tensor()};
}

}  // namespace

MethodDefinition protolp() {
  MethodSpec spec;
  spec.name = "protolp";
  spec.about = "class means and a graph from images to them, each refined by the other";
  spec.citation =
      "Zhu, Koniusz: Transductive Few-shot Learning with Prototype-based Label Propagation by Iterative Graph "
      "Refinement, CVPR 2023";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The authors’ code takes the power transform; transform=cl2n is for features that may be negative. Its "
      "propagated "
      "labels are balanced over supports and queries and stop at .01; here over the queries, which is the same but "
      "for where it stops (.001).";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("lambda", &Options::lambda, {1e-6}, "factor of the squared distance")
                             .tries({"5", "20"})
                             .real("share", &Options::share, {0, 1}, "of the propagated labels")
                             .tries({"0.3", "0.8"})
                             .real("rate", &Options::rate, {0, 1}, "share of a step that the means take")
                             .tries({"0.1", "0.4"})
                             .whole("steps", &Options::steps, {0, 1e5}, "of the means")
                             .whole("dimensions", &Options::dimensions, {1, 1e6}, "kept of each episode")
                             .tries({"20", "60"}),
                         {"l2n"});
}

}  // namespace protocom::methods
