#include "fewshot/toolbox/detail/label_graph.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/cosine_classifier.h"

namespace protocom {
namespace {

/// max(cosine, 0)^power to the nearest of each row, else 0.
at::Tensor nearest_affinities(const at::Tensor& cosine, const LabelGraphOptions& options) {
  const int64_t count = std::min(options.neighbours, cosine.size(-1));
  const at::Tensor nearest = std::get<1>(cosine.topk(count, -1, /*largest=*/true, /*sorted=*/false));
  const at::Tensor chosen = at::zeros_like(cosine).scatter_(-1, nearest, 1);
  return cosine.clamp_min(0).pow(options.power) * chosen;
}

/// D^-1/2 of the sums of rows; 1 for a point without neighbours.
at::Tensor root_of_degree(const at::Tensor& affinities) {
  const at::Tensor degree = affinities.sum(-1, true);
  return at::where(degree > 0, degree, at::ones_like(degree)).rsqrt();
}

}  // namespace

LabelGraph::LabelGraph(const EpisodePoints& points, const LabelGraphOptions& options) : supports_(points.supports) {
  const at::Tensor x = points.learned_from(points.features);
  at::Tensor cosine = protocom::cosine_similarity(x, x).to(at::kDouble);
  cosine.diagonal(0, 1, 2).fill_(-1);  // no point is its own neighbour
  const at::Tensor directed = nearest_affinities(cosine, options);
  const at::Tensor affinities = directed + directed.transpose(1, 2);
  const at::Tensor root = root_of_degree(affinities);  // [b, s + u, 1]
  const at::Tensor w = root * affinities * root.transpose(1, 2);
  inverse_ = at::linalg_inv(at::eye(w.size(1), w.options()) - options.alpha * w);
  if (points.features.size(1) == x.size(1)) return;
  const at::Tensor query = protocom::cosine_similarity(points.queries_of(points.features), x).to(at::kDouble);
  const at::Tensor near = nearest_affinities(query, options);
  to_queries_ = options.alpha * root_of_degree(near) * near * root.transpose(1, 2);
}

at::Tensor LabelGraph::propagate(const at::Tensor& labels) const {
  return at::matmul(inverse_, labels.to(at::kDouble)).clamp_min(0);
}

at::Tensor LabelGraph::of_queries(const at::Tensor& f) const {
  return to_queries_.defined() ? at::matmul(to_queries_, f) : f.slice(1, supports_, f.size(1));
}

}  // namespace protocom
