#include "fewshot/toolbox/detail/episode_points.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace protocom {
namespace {

/// [b, n, n * k]
at::Tensor support_labels(const EpisodeBatch& batch) {
  const int64_t n = batch.support.size(1);
  const int64_t k = batch.support.size(2);
  const at::Tensor labels = at::eye(n, batch.support.options()).repeat_interleave(k, 1).expand({batch.size(), -1, -1});
  if (!batch.support_mask.defined()) return labels;
  return labels * batch.support_mask.reshape({batch.size(), 1, n * k});
}

EpisodePoints joined(const EpisodeBatch& batch, int64_t unlabelled, const std::vector<at::Tensor>& after_supports) {
  expect_support_images(batch);
  at::Tensor support = batch.support;
  if (batch.support_mask.defined()) support = support * batch.support_mask.unsqueeze(-1);
  std::vector<at::Tensor> parts{support.flatten(1, 2)};
  parts.insert(parts.end(), after_supports.begin(), after_supports.end());
  EpisodePoints points;
  points.features = at::cat(parts, 1);
  points.supports = parts.front().size(1);
  points.unlabelled = unlabelled;
  points.queries = batch.query.size(1);
  const int64_t others = points.features.size(1) - points.supports;
  points.labels = at::constant_pad_nd(support_labels(batch), {0, others}).transpose(1, 2);
  return points;
}

}  // namespace

at::Tensor EpisodePoints::with_unlabelled(const at::Tensor& responsibilities) const {
  at::Tensor all = labels.clone();
  unlabelled_of(all).copy_(responsibilities);
  return all;
}

at::Tensor EpisodePoints::mean_support() const {
  return supports_of(features).sum(1, true) / shots().sum(1).view({-1, 1, 1});
}

at::Tensor EpisodePoints::mean_unlabelled() const { return unlabelled_of(features).mean(1, true); }

void expect_support_images(const EpisodeBatch& batch) {
  if (!batch.support.defined()) fail("this method needs each support image's feature");
}

EpisodePoints episode_points(const EpisodeBatch& batch) {
  if (!batch.unlabelled.defined()) return joined(batch, batch.query.size(1), {batch.query});
  return joined(batch, batch.unlabelled.size(1), {batch.unlabelled, batch.query});
}

at::Tensor residuals(const at::Tensor& probabilities, const at::Tensor& labels) {
  const at::Tensor others = probabilities * (1 - labels) * labels.sum(-1, true);
  return others - labels * others.sum(-1, true);
}

EpisodePoints supports_and_queries(const EpisodeBatch& batch) { return joined(batch, 0, {batch.query}); }

}  // namespace protocom
