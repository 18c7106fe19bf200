#include "fewshot/plda/probability_scale.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "protocom/fewshot/plda/posterior.h"

namespace protocom {
namespace {

constexpr int64_t kMostFolds = 5;

/// Which images a fold keeps and leaves out.
struct Fold {
  std::vector<int64_t> kept, left_out;
};

/// The rank of each image in its class by its distance from the class's mean, int64 [m]: an order that neither a
/// rotation of the rows nor their order changes.
at::Tensor ranks_in_class(const at::Tensor& rows, const at::Tensor& labels, const at::Tensor& count) {
  const at::Tensor sum = at::zeros({count.size(0), rows.size(1)}, at::kDouble).index_add_(0, labels, rows);
  const at::Tensor mean = sum / count.unsqueeze(1);
  const at::Tensor distance = (rows - mean.index_select(0, labels)).square().sum(1);
  at::Tensor rank = at::zeros_like(labels);
  for (int64_t c = 0; c < count.size(0); ++c) {
    const at::Tensor own = labels.eq(c).nonzero().flatten();
    const at::Tensor order = own.index_select(0, distance.index_select(0, own).argsort());
    rank.index_copy_(0, order, at::arange(order.size(0), at::kLong));
  }
  return rank;
}

std::vector<Fold> folds_of(const at::Tensor& rows, const at::Tensor& labels, int64_t classes, int64_t least) {
  const at::Tensor count = at::bincount(labels, {}, classes);
  const auto most = count.max().item<int64_t>();
  if (most < least) return {};
  const at::Tensor rank = ranks_in_class(rows, labels, count.to(at::kDouble));
  const auto number = rank.accessor<int64_t, 1>(), label = labels.accessor<int64_t, 1>(),
             images = count.accessor<int64_t, 1>();
  const int64_t many = std::min(most, kMostFolds);
  std::vector<Fold> folds(static_cast<size_t>(many));
  for (int64_t i = 0; i < label.size(0); ++i) {
    const bool leaves = images[label[i]] >= least;
    for (int64_t f = 0; f < many; ++f) {
      Fold& fold = folds[static_cast<size_t>(f)];
      // By rank of distance, so that each fold leaves out images near the mean and far from it.
      (leaves && number[i] % many == f ? fold.left_out : fold.kept).push_back(i);
    }
  }
  return folds;
}

/// Log predictives [l, c] of the images left out, up to a number for each.
at::Tensor log_predictives(const FoldRows& rows, const at::Tensor& labels, int64_t classes) {
  const at::Tensor count = at::bincount(labels, {}, classes).to(at::kDouble);
  const at::Tensor sum = at::zeros({classes, rows.kept.size(1)}, at::kDouble).index_add_(0, labels, rows.kept);
  const at::Tensor mean = class_mean_posterior(no_knowledge(rows.between, {classes}), count, sum).mean;
  const at::Tensor precision = 1 / (1 + rows.between / (1 + count.mean() * rows.between));
  // -1/2 (q - m)^2 w without q^2 w, which is the same for all classes.
  return at::mm(rows.left_out * precision, mean.t()) - 0.5 * at::mv(mean.square(), precision);
}

}  // namespace

ScaledLoss most_likely_scale(const at::Tensor& logs, const at::Tensor& labels) {
  constexpr double kFirst = 0.01, kLast = 2, kStep = 1.4;
  ScaledLoss best;
  double least = std::numeric_limits<double>::infinity();
  for (double scale = kFirst; scale < kLast; scale *= kStep) {
    const at::Tensor loss = -(scale * logs).log_softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1);
    // The logarithm of the scale is Gaussian around that of the default, with a deviation of 1.
    const double away = std::log(scale / kDefaultScale);
    const double cost = loss.sum().item<double>() + 0.5 * away * away;
    if (!(cost < least)) continue;
    least = cost;
    best = {loss, scale};
  }
  return best;
}

std::optional<ScaledLoss> scale_by_folds(const at::Tensor& rows, const at::Tensor& labels, int64_t classes,
                                         int64_t least, const FoldSpace& space) {
  std::vector<at::Tensor> logs, images;
  for (const Fold& fold : folds_of(rows, labels, classes, least)) {
    if (fold.left_out.empty()) continue;
    const at::Tensor kept = at::tensor(fold.kept, at::kLong), left_out = at::tensor(fold.left_out, at::kLong);
    logs.push_back(log_predictives(space(kept, left_out), labels.index_select(0, kept), classes));
    images.push_back(left_out);
  }
  if (logs.empty()) return std::nullopt;
  const at::Tensor order = at::cat(images).argsort();
  const at::Tensor answered = at::cat(images).index_select(0, order);
  return most_likely_scale(at::cat(logs).index_select(0, order), labels.index_select(0, answered));
}

}  // namespace protocom
