#include "fewshot/plda/detail/batch_space.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/vb_run.h"
#include "fewshot/toolbox/detail/complete_basis.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"

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
/// An unlabelled photo is of one of the classes with odds of exp(-1) before it is looked at: folders of unsorted photos
/// have others in them. One or two labelled images per class do not tell which; weighing by what they say loses there.
/// Both found on val classes of CUB-100 and base classes of Tiny-ImageNet-100 and the demo, where all photos or half of
/// them are of the classes (docs/log/plda.md).
constexpr double kLogOddsOfClasses = -1, kShotsThatTell = 3;

/// One episode in coordinates that differ by `between` alone. float64.
struct BatchImages {
  at::Tensor unlabelled;  // [u, e]
  at::Tensor queries;     // [q, e]; undefined: the unlabelled
  at::Tensor sum;         // [n, e], of the labelled
  at::Tensor count;       // [1, n]
  at::Tensor between;     // [e]
  bool own_axes = false;  // no two dimensions can be exchanged for others
  at::Tensor chance;      // [u], of being of one of the classes; undefined: they are
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

/// All images and class sums of an episode [u + n (+ q), width].
at::Tensor rows_of(const PldaVbRows& task) {
  std::vector<at::Tensor> parts = {task.unlabelled, task.sum};
  if (task.queries.defined()) parts.push_back(task.queries);
  return at::cat(parts, 1).squeeze(0).to(at::kDouble);
}

at::Tensor rest_of(const at::Tensor& rows, const PldaLayout& layout) {
  return rows.narrow(1, layout.rest_begin(), layout.rest());
}

/// `rest`: their coordinates in the dimensions after the varied ones, which differ in nothing.
BatchImages images_of(const PldaVbRows& task, const PldaRowVariance& variance, const PldaLayout& layout,
                      const at::Tensor& rest) {
  const at::Tensor all = at::cat({rows_of(task).narrow(1, 0, layout.varied), rest}, 1);
  const int64_t u = task.unlabelled.size(1), n = task.sum.size(1);
  BatchImages images;
  images.unlabelled = all.narrow(0, 0, u);
  images.sum = all.narrow(0, u, n);
  if (task.queries.defined()) images.queries = all.narrow(0, u + n, all.size(0) - u - n);
  images.count = task.count;
  images.own_axes = layout.rest() == 0;
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

/// A space in which images of a class have the covariance I and class means diag(between).
struct FollowedSpace {
  at::Tensor map;             // [e, e], or
  WithinWhitening whitening;  // where `map` is undefined
  at::Tensor between;         // [e]

  [[nodiscard]] at::Tensor apply(const at::Tensor& x) const {
    return map.defined() ? at::mm(x, map) : whitening.apply(x);
  }
};

/// In units in which the covariance of class means is I, one eigendecomposition makes both diagonal: the answer does
/// not depend on how the images' span was turned. `rows` are those of the scatter.
FollowedSpace turned_space(const BatchImages& images, const at::Tensor& rows, double weight, double degrees) {
  const at::Tensor unit = images.between.sqrt();
  const at::Tensor scaled = rows / unit;
  const at::Tensor sum = at::mm(scaled.t(), scaled) + at::diag(degrees / images.between);
  const auto [values, vectors] = at::linalg_eigh(sum / (degrees + weight));
  FollowedSpace space;
  space.map = vectors / unit.unsqueeze(1) / values.sqrt();
  space.between = values.reciprocal();
  return space;
}

/// The images in `kept` count with their weights. Where every dimension has a variance of its own and they are few, the
/// axes stay, as with labelled images (plda/adaptation.h), which takes no e x e decomposition.
FollowedSpace followed_space(const BatchImages& images, const at::Tensor& weights, const at::Tensor& kept,
                             double degrees) {
  const at::Tensor w = weights.index_select(0, kept);
  const at::Tensor rows = soft_within_rows(images, images.unlabelled.index_select(0, kept), w);
  const auto weight = w.sum().item<double>();
  if (!images.own_axes || 2 * rows.size(0) > rows.size(1)) return turned_space(images, rows, weight, degrees);
  FollowedSpace space;
  space.whitening = whitening_of(scatter_of(rows, weight), degrees);
  space.between = space.whitening.apply_to_variance(images.between);
  return space;
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
  const auto rows = [&](const at::Tensor& x) { return as_rows(space.apply(x)); };
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
at::Tensor scatter_weights(const at::Tensor& scores, const BatchImages& images) {
  const at::Tensor weights = kScatterWeight * scores.squeeze(0).to(at::kDouble).softmax(-1);
  return images.chance.defined() ? weights * images.chance.unsqueeze(1) : weights;
}

/// The chance of each unlabelled image to be of one of the classes, float64 [u], by the labelled images alone.
/// Undefined where these are too few to tell.
at::Tensor chance_of_classes(const PldaVbRows& task, const PldaRowVariance& variance, const PldaLayout& layout,
                             double scale) {
  if (task.count.mean().item<double>() < kShotsThatTell) return {};
  const auto predictive = [&](const PldaRowBelief& belief, const at::Tensor& count) {
    const at::Tensor means = rows_of_means(belief);
    return row_log_predictive(row_predictive(means, row_metric(variance, count, layout)), task.unlabelled);
  };
  const auto first = [](const at::Tensor& classes) { return classes.narrow(1, 0, 1); };
  const PldaRowBelief nothing = task.prior.each(first);
  const at::Tensor ratio = known_ratio(predictive(row_posterior(task.prior, task.count, task.sum, layout), task.count),
                                       predictive(nothing, at::zeros({1, 1})).squeeze(-1), at::full({1, 1, 1}, scale));
  return (scale * ratio.squeeze(0).to(at::kDouble) + kLogOddsOfClasses).sigmoid();
}

/// Parts by rank of the images' lengths: neither their order nor a rotation changes it.
std::vector<at::Tensor> parts_of(const at::Tensor& images) {
  const at::Tensor order = images.square().sum(1).argsort();
  std::vector<at::Tensor> parts;
  for (int64_t part = 0; part < std::min(kFollowingParts, images.size(0)); ++part)
    parts.push_back(order.slice(0, part, order.size(0), kFollowingParts));
  return parts;
}

/// The log responsibilities [1, u, n] of the unlabelled images after the rounds, each part in a space of the others.
at::Tensor scores_by_parts(const BatchImages& images, PldaVbRows task, const PldaRowVariance& variance,
                           const PldaLayout& layout, const PldaVbOptions& vb, const at::Tensor& scale) {
  task.queries = at::Tensor();
  at::Tensor scores = batch_scores(std::move(task), variance, layout, vb, scale);
  const int64_t u = images.unlabelled.size(0);
  const auto parts = parts_of(images.unlabelled);
  for (int64_t round = 0; round < kFollowingRounds; ++round) {
    const at::Tensor weights = scatter_weights(scores, images);
    scores = at::empty_like(scores);
    for (const at::Tensor& part : parts) {
      const at::Tensor others = at::ones({u}, at::kBool).index_fill(0, part, false).nonzero().flatten();
      const FollowedSpace space = followed_space(images, weights, others, vb.degrees);
      scores.index_copy_(1, part, scores_in(space, images, false, vb, scale).index_select(1, part));
    }
  }
  return scores;
}

/// One episode of labelled and unlabelled rows [m, width] and [u, width].
PldaVbRows task_of(const PldaModel& model, const PldaRows& rows, const at::Tensor& labelled, const at::Tensor& labels,
                   int64_t classes, const at::Tensor& unlabelled) {
  const PldaRowBelief nothing = in_parts(model.prior({}, 1), rows.layout());
  const auto each = [&](const at::Tensor& one) {
    std::vector<int64_t> sizes = {1, classes};
    if (one.dim() > 1) sizes.push_back(one.size(1));
    return one.expand(sizes).contiguous();
  };
  PldaVbRows task;
  task.prior = nothing.each(each);
  task.count = at::bincount(labels, {}, classes).to(at::kFloat).unsqueeze(0);
  task.sum = at::zeros({classes, labelled.size(1)}).index_add_(0, labels, labelled).unsqueeze(0);
  task.unlabelled = unlabelled.unsqueeze(0);
  return task;
}

/// The images that are not labelled too, which would count twice; as features that were kept as float16 are the same.
at::Tensor without_labelled(const at::Tensor& images, const at::Tensor& labelled) {
  constexpr double kSame = 1e-3;  // of their length
  const at::Tensor x = images.to(at::kDouble);
  const at::Tensor nearest = std::get<0>(at::cdist(x, labelled.to(at::kDouble)).min(1));
  return images.index_select(0, nearest.gt(kSame * x.norm(2, 1)).nonzero().flatten());
}

/// An orthonormal basis of the rest whose first vectors span what the images have there.
struct RestSpan {
  at::Tensor basis;        // [rest, rest]
  at::Tensor coordinates;  // [u + n, those]
};

RestSpan span_of_rest(const PldaVbRows& task, const PldaLayout& layout) {
  const at::Tensor rest = rest_of(rows_of(task), layout);
  if (rest.size(0) >= rest.size(1)) return {at::eye(layout.rest(), at::kDouble), rest};
  const at::Tensor basis = complete_basis(std::get<0>(at::linalg_qr(rest.t())));
  return {basis, at::mm(rest, basis.narrow(1, 0, rest.size(0)))};
}

/// The space in which images and the first dimensions of the rest follow; in those that no image has a part in S only
/// loses to its degrees: `growth` is (nu + w u) / nu.
void take_space(const FollowedSpace& followed, double growth, const at::Tensor& rest_basis, PldaSpace& space) {
  const int64_t dims = space.between.size(0), varied = dims - rest_basis.size(0), first = followed.between.size(0);
  at::Tensor map = at::zeros({dims, dims}, at::kDouble);
  map.narrow(0, 0, first).narrow(1, 0, first).copy_(followed.apply(at::eye(first, at::kDouble)));
  map.diagonal().slice(0, first).fill_(std::sqrt(growth));
  const at::Tensor turn = at::cat({map.narrow(0, 0, varied), at::mm(rest_basis, map.narrow(0, varied, dims - varied))});
  space.projection = at::mm(space.projection, turn);
  space.offset = at::mv(turn.t(), space.offset);
  space.between = at::cat({followed.between, growth * space.between.slice(0, first)});
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
  const BatchImages images = images_of(task, variance, layout, in_own_span(rest_of(rows_of(task), layout)));
  const at::Tensor scores = scores_by_parts(images, task, variance, layout, vb, scale);
  if (!task.queries.defined()) return scores;
  const at::Tensor all = at::arange(images.unlabelled.size(0));
  return scores_in(followed_space(images, scatter_weights(scores, images), all, vb.degrees), images, true, vb, scale);
}

SoftSupports follow_unlabelled(PldaModel& model, const at::Tensor& features, const at::Tensor& labels,
                               int64_t classes) {
  const SoftSupports none;
  at::Tensor unlabelled = std::exchange(model.unlabelled, at::Tensor()).to(at::kFloat);
  if (unlabelled.size(1) != features.size(1))
    fail("unlabelled images have features of {} numbers, labelled ones of {}", unlabelled.size(1), features.size(1));
  unlabelled = without_labelled(unlabelled, features);
  if (unlabelled.size(0) == 0 || !(model.vb.degrees > 0)) return none;
  const PldaRows rows(model);
  const PldaLayout& layout = rows.layout();
  const PldaVbRows task =
      task_of(model, rows, rows.map(features.to(at::kFloat)), labels, classes, rows.map(unlabelled));
  const PldaRowVariance variance = in_parts(model.space.between, layout);
  const at::Tensor scale = at::full({1, 1, 1}, model.transductive_scale.five);
  const RestSpan span = span_of_rest(task, layout);
  BatchImages images = images_of(task, variance, layout, span.coordinates);
  images.chance = chance_of_classes(task, variance, layout, model.inductive_scale.five);
  const at::Tensor scores = scores_by_parts(images, task, variance, layout, model.vb, scale);
  const at::Tensor weights = scatter_weights(scores, images), all = at::arange(unlabelled.size(0));
  take_space(followed_space(images, weights, all, model.vb.degrees),
             1 + weights.sum().item<double>() / model.vb.degrees, span.basis, model.space);
  model.residual = model.space.between;
  const float weight = unlabelled_weight(task.count.sum().item<float>(), classes, model.vb);
  const double shots = task.count.mean().item<double>(), trust = shots / (shots + 1);
  model.inductive_scale = {trust * model.inductive_scale.none, trust * model.inductive_scale.one,
                           trust * model.inductive_scale.five};
  const at::Tensor counted = weight * scores.squeeze(0).softmax(-1);
  return {unlabelled, images.chance.defined() ? counted * images.chance.to(at::kFloat).unsqueeze(1) : counted};
}

}  // namespace protocom
