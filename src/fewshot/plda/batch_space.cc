#include "fewshot/plda/batch_space.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "fewshot/toolbox/row_kernels.h"

namespace protocom {
namespace {

/// Chosen on val classes of CUB-100 with three encoders and of Tiny-ImageNet-100 (docs/log/plda.md).
constexpr int64_t kFollowingParts = 4, kFollowingRounds = 2;
/// What an unlabelled image counts as beside a labelled one.
constexpr double kScatterWeight = 0.25;
/// Of the mean diagonal of a Gram matrix, added to it: rows that depend on one another still have coordinates.
constexpr double kGramRidge = 1e-10;
/// Of class means, where a fitted space has none.
constexpr double kLeastVariance = 1e-6;

/// One episode in coordinates that differ by `between` alone. float64.
struct BatchImages {
  at::Tensor unlabelled;  // [u, e]
  at::Tensor queries;     // [q, e]; undefined: the unlabelled
  at::Tensor sum;         // [n, e], of the labelled
  at::Tensor count;       // [1, n]
  at::Tensor between;     // [e]
};

/// Coordinates [m, m] with the inner products of rows [m, p], where these have more dimensions than there are rows.
at::Tensor in_own_span(const at::Tensor& rows) {
  const int64_t m = rows.size(0);
  if (m >= rows.size(1)) return rows;
  at::Tensor gram = at::mm(rows, rows.t());
  gram.diagonal().add_(kGramRidge * gram.diagonal().mean());
  const auto [factor, info] = at::linalg_cholesky_ex(gram);
  return info.item<int>() == 0 ? factor : rows;
}

BatchImages images_of(const PldaVbRows& task, const PldaRowVariance& variance, const PldaLayout& layout) {
  std::vector<at::Tensor> parts = {task.unlabelled, task.sum};
  if (task.queries.defined()) parts.push_back(task.queries);
  const at::Tensor rows = at::cat(parts, 1).squeeze(0).to(at::kDouble);
  const at::Tensor rest = in_own_span(rows.narrow(1, layout.rest_begin(), layout.width() - layout.rest_begin()));
  const at::Tensor all = at::cat({rows.narrow(1, 0, layout.varied), rest}, 1);
  const int64_t u = task.unlabelled.size(1), n = task.sum.size(1);
  BatchImages images;
  images.unlabelled = all.narrow(0, 0, u);
  images.sum = all.narrow(0, u, n);
  if (task.queries.defined()) images.queries = all.narrow(0, u + n, all.size(0) - u - n);
  images.count = task.count;
  const at::Tensor varied = variance.varied.narrow(0, 0, layout.varied);
  images.between = at::cat({varied, variance.rest.expand({rest.size(1)})}).to(at::kDouble).clamp_min(kLeastVariance);
  return images;
}

/// Rows whose scatter is sum_jc weight_jc (x_j - m_c)(x_j - m_c)', m_c the mean of labelled and weighted images: those
/// of x_j about the mean of its classes, and those of its classes about that.
at::Tensor soft_within_rows(const BatchImages& images, const at::Tensor& x, const at::Tensor& weights) {
  const at::Tensor count = images.count.squeeze(0).to(at::kDouble) + weights.sum(0);
  const at::Tensor means = (images.sum + at::mm(weights.t(), x)) / count.clamp_min(1e-12).unsqueeze(1);
  const at::Tensor each = weights.sum(1, true).clamp_min(1e-12);  // [u, 1]
  const at::Tensor share = weights / each;
  const at::Tensor about = (x - at::mm(share, means)) * each.sqrt();
  const at::Tensor doubt = at::diag(weights.sum(0)) - at::mm(share.t(), weights);  // [n, n]
  const auto [values, vectors] = at::linalg_eigh(doubt);
  return at::cat({about, at::mm((vectors * values.clamp_min(0).sqrt()).t(), means)});
}

/// Coordinates x `map` in which images of a class have the covariance I and class means diag(between).
struct FollowedSpace {
  at::Tensor map;      // [e, e]
  at::Tensor between;  // [e]
};

/// The images in `kept` count with their weights. In units in which the covariance of class means is I one
/// eigendecomposition makes both diagonal, so that the answer does not depend on how the images' span was turned.
FollowedSpace followed_space(const BatchImages& images, const at::Tensor& weights, const at::Tensor& kept,
                             double degrees) {
  const at::Tensor w = weights.index_select(0, kept);
  const at::Tensor unit = images.between.sqrt();
  const at::Tensor rows = soft_within_rows(images, images.unlabelled.index_select(0, kept), w) / unit;
  const at::Tensor sum = at::mm(rows.t(), rows) + at::diag(degrees / images.between);
  const auto [values, vectors] = at::linalg_eigh(sum / (degrees + w.sum()));
  return {vectors / unit.unsqueeze(1) / values.sqrt(), values.reciprocal()};
}

/// Every dimension has a variance of its own.
PldaLayout layout_of(int64_t dims) {
  PldaLayout layout;
  layout.dims = layout.leading = layout.varied = dims;
  layout.padded = padded_length(dims);
  return layout;
}

at::Tensor as_rows(const at::Tensor& x) {
  const at::Tensor values = padded_row(x.to(at::kFloat)).unsqueeze(0);
  PldaRowBelief belief;
  belief.mean_varied = values;
  belief.mean_rest = at::zeros({1, x.size(0), 0});
  return rows_of_means(belief);
}

/// The answers in a space: of the unlabelled images, or of the queries.
at::Tensor scores_in(const FollowedSpace& space, const BatchImages& images, bool of_queries, const PldaVbOptions& vb,
                     const at::Tensor& scale) {
  const PldaLayout layout = layout_of(space.between.size(0));
  const at::Tensor between = padded_row(space.between.to(at::kFloat));
  const auto rows = [&](const at::Tensor& x) { return as_rows(at::mm(x, space.map)); };
  const int64_t n = images.sum.size(0);
  PldaVbRows task;
  task.prior = {at::zeros({1, n, layout.padded}), between.expand({1, n, layout.padded}), at::zeros({1, n, 0}),
                at::zeros({1, n})};
  task.count = images.count;
  task.sum = rows(images.sum);
  task.unlabelled = rows(images.unlabelled);
  if (of_queries) task.queries = rows(images.queries);
  return batch_scores(std::move(task), {between, at::zeros({})}, layout, vb, scale);
}

/// What unlabelled images count as of each class for the scatter, [u, n].
at::Tensor scatter_weights(const at::Tensor& scores) {
  return kScatterWeight * scores.squeeze(0).to(at::kDouble).softmax(-1);
}

/// Parts by rank of the images' lengths: neither their order nor a rotation changes it.
std::vector<at::Tensor> parts_of(const at::Tensor& images) {
  const at::Tensor order = images.square().sum(1).argsort();
  std::vector<at::Tensor> parts;
  for (int64_t part = 0; part < std::min(kFollowingParts, images.size(0)); ++part)
    parts.push_back(order.slice(0, part, order.size(0), kFollowingParts));
  return parts;
}

}  // namespace

at::Tensor batch_scores(PldaVbRows task, const PldaRowVariance& variance, const PldaLayout& layout,
                        const PldaVbOptions& vb, const at::Tensor& scale) {
  if (!(vb.plausible > 0)) return plda_vb_rows(task, layout, vb);
  const at::Tensor means = rows_of_means(row_posterior(task.prior, task.count, task.sum, layout));
  const PldaRowPredictive alone = row_predictive(means, row_metric(variance, task.count, layout));
  const auto handicap = [&](const at::Tensor& rows) {
    return vb_handicap(scale * row_log_predictive(alone, rows), vb.plausible);
  };
  task.handicap = handicap(task.unlabelled);
  const at::Tensor scores = plda_vb_rows(task, layout, vb);
  return task.queries.defined() ? scores + handicap(task.queries) : scores;
}

at::Tensor batch_scores_following(const PldaVbRows& task, const PldaRowVariance& variance, const PldaLayout& layout,
                                  const PldaVbOptions& vb, const at::Tensor& scale) {
  const BatchImages images = images_of(task, variance, layout);
  PldaVbRows first = task;
  first.queries = at::Tensor();
  at::Tensor scores = batch_scores(std::move(first), variance, layout, vb, scale);  // [1, u, n]
  const int64_t u = images.unlabelled.size(0);
  const auto parts = parts_of(images.unlabelled);
  for (int64_t round = 0; round < kFollowingRounds; ++round) {
    const at::Tensor weights = scatter_weights(scores);
    scores = at::empty_like(scores);
    for (const at::Tensor& part : parts) {
      const at::Tensor others = at::ones({u}, at::kBool).index_fill(0, part, false).nonzero().flatten();
      const FollowedSpace space = followed_space(images, weights, others, vb.degrees);
      scores.index_copy_(1, part, scores_in(space, images, false, vb, scale).index_select(1, part));
    }
  }
  if (!task.queries.defined()) return scores;
  const at::Tensor weights = scatter_weights(scores);
  return scores_in(followed_space(images, weights, at::arange(u), vb.degrees), images, true, vb, scale);
}

}  // namespace protocom
