#include "fewshot/plda_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "fewshot/gaussian.h"
#include "fewshot/row_kernels.h"
#include "fewshot/row_products.h"

namespace protocom {
namespace {

/// Dimensions up to the last whose value is not that of the very last one.
int64_t varied(const at::Tensor& values) {
  const at::Tensor differs = values.ne(values[-1]).nonzero();
  return differs.size(0) == 0 ? 0 : differs[-1].item<int64_t>() + 1;
}

}  // namespace

int64_t PldaLayout::rest_begin() const { return 2 * padded + kRowMultiple; }

int64_t PldaLayout::width() const { return rest_begin() + padded_length(rest()); }

PldaLayout plda_layout(const PldaModel& model) {
  PldaLayout layout;
  layout.dims = model.space.between.size(0);
  layout.leading = model.space.leading;
  const int64_t needed = std::max({int64_t{1}, layout.leading, varied(model.space.between), varied(model.residual)});
  layout.padded = padded_length(needed);
  layout.own = std::min(layout.padded, layout.dims);
  return layout;
}

PldaRows::PldaRows(const PldaModel& model) : layout_(plda_layout(model)) {
  space_.center = model.space.center.to(at::kFloat);
  space_.projection = model.space.projection.to(at::kFloat);
  space_.offset = model.space.offset.to(at::kFloat);
}

at::Tensor PldaRows::map(const at::Tensor& features) const {
  const at::Tensor f = space_.transform(features);
  const at::Tensor own = padded_row(f.narrow(-1, 0, layout_.own));
  const at::Tensor rest = f.narrow(-1, layout_.own, layout_.rest());
  return at::cat({own, own * own, padded_row(rest.square().sum(-1, true)), padded_row(rest)}, -1);
}

std::pair<at::Tensor, at::Tensor> PldaRows::sums(const at::Tensor& features, const at::Tensor& present) const {
  const at::Tensor count = present.sum(-1);
  const at::Tensor sum = (space_.directions(features) * present.unsqueeze(-1)).sum(-2);
  const at::Tensor f = at::matmul(sum, space_.projection) - count.unsqueeze(-1) * space_.offset;
  const at::Tensor own = padded_row(f.narrow(-1, 0, layout_.own));
  const at::Tensor rest = padded_row(f.narrow(-1, layout_.own, layout_.rest()));
  std::vector<int64_t> between = count.sizes().vec();
  between.push_back(layout_.rest_begin() - layout_.padded);
  return {count, at::cat({own, at::zeros(between), rest}, -1)};
}

bool PldaRows::same_as(const FeatureMap& other) const {
  const auto* rows = dynamic_cast<const PldaRows*>(&other);
  return rows != nullptr && rows->layout_.padded == layout_.padded && rows->space_.center.equal(space_.center) &&
         rows->space_.projection.equal(space_.projection) && rows->space_.offset.equal(space_.offset);
}

PldaRowBelief in_parts(const ClassMeanPrior& prior, const PldaLayout& layout) {
  const at::Tensor mean = prior.mean.to(at::kFloat);
  const at::Tensor variance = prior.variance.to(at::kFloat).expand_as(mean);
  const auto own = [&](const at::Tensor& values) { return padded_row(values.narrow(-1, 0, layout.own)); };
  const at::Tensor rest = layout.rest() > 0 ? variance.select(-1, layout.own) : at::zeros(mean.sizes().slice(0, 1));
  return {own(mean), own(variance), padded_row(mean.narrow(-1, layout.own, layout.rest())), rest.contiguous()};
}

PldaRowBelief row_posterior(const PldaRowBelief& prior, const at::Tensor& count, const at::Tensor& sum,
                            const PldaLayout& layout) {
  const at::Tensor gain = (1 + count.unsqueeze(-1) * prior.variance_own).reciprocal();
  const at::Tensor gain_rest = (1 + count * prior.variance_rest).reciprocal();
  const at::Tensor sum_rest = sum.narrow(-1, layout.rest_begin(), prior.mean_rest.size(-1));
  return {(prior.mean_own + prior.variance_own * sum.narrow(-1, 0, layout.padded)) * gain, prior.variance_own * gain,
          (prior.mean_rest + prior.variance_rest.unsqueeze(-1) * sum_rest) * gain_rest.unsqueeze(-1),
          prior.variance_rest * gain_rest};
}

PldaRowPredictive row_predictive(const PldaRowBelief& posterior, const PldaLayout& layout, double volume) {
  // -2 log N = sum log(1 + v) + q^2 w - 2 q (w m) + m^2 w + d log 2 pi with w = 1 / (1 + v): linear in a row's parts.
  // The first sum counts by `volume`.
  const at::Tensor weight = (1 + posterior.variance_own).reciprocal();
  const at::Tensor weight_rest = (1 + posterior.variance_rest).reciprocal();
  const at::Tensor own = weight * posterior.mean_own;
  const at::Tensor rest = weight_rest.unsqueeze(-1) * posterior.mean_rest;
  const at::Tensor squares = padded_row(-0.5 * weight_rest.unsqueeze(-1));
  const at::Tensor length = (own * posterior.mean_own).sum(-1) + (rest * posterior.mean_rest).sum(-1);
  const at::Tensor log_weight = weight.log().sum(-1) + static_cast<double>(layout.rest()) * weight_rest.log();
  return {at::cat({own, -0.5 * weight, squares, rest}, -1),
          length - volume * log_weight + static_cast<double>(layout.dims) * kLogTwoPi};
}

at::Tensor row_log_predictive(const PldaRowPredictive& predictive, const at::Tensor& rows) {
  return row_products(rows, predictive.prototypes) - 0.5 * predictive.constant.unsqueeze(-2);
}

at::Tensor row_log_predictive(const PldaRowBelief& posterior, const at::Tensor& rows, const PldaLayout& layout,
                              double volume) {
  return row_log_predictive(row_predictive(posterior, layout, volume), rows);
}

}  // namespace protocom
