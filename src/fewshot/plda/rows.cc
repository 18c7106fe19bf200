#include "fewshot/plda/detail/rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "fewshot/toolbox/detail/gaussian.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// Dimensions up to the last whose value is not that of the very last one.
int64_t varied(const at::Tensor& values) {
  const at::Tensor differs = values.ne(values[-1]).nonzero();
  return differs.size(0) == 0 ? 0 : differs[-1].item<int64_t>() + 1;
}

at::Tensor row_of(const at::Tensor& varied, const at::Tensor& rest) {
  return at::cat({varied, varied * varied, padded_row(rest.square().sum(-1, true)), rest}, -1);
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
  layout.varied = std::min(layout.padded, layout.dims);
  return layout;
}

PldaRows::PldaRows(const PldaModel& model) : layout_(plda_layout(model)) {
  space_.root = model.space.root;
  space_.center = model.space.center.to(at::kFloat);
  space_.projection = model.space.projection.to(at::kFloat);
  space_.offset = model.space.offset.to(at::kFloat);
}

at::Tensor PldaRows::map(const at::Tensor& features) const {
  const at::Tensor f = space_.transform(features);
  return row_of(padded_row(f.narrow(-1, 0, layout_.varied)), padded_row(f.narrow(-1, layout_.varied, layout_.rest())));
}

std::pair<at::Tensor, at::Tensor> PldaRows::sums(const at::Tensor& features, const at::Tensor& present) const {
  const at::Tensor count = present.sum(-1);
  const at::Tensor sum = (space_.directions(features) * present.unsqueeze(-1)).sum(-2);
  // The map is linear but for its offset, so it is applied to the sum: a product a class, not an image.
  const at::Tensor f = at::matmul(sum, space_.projection) - count.unsqueeze(-1) * space_.offset;
  const at::Tensor varied = padded_row(f.narrow(-1, 0, layout_.varied));
  const at::Tensor rest = padded_row(f.narrow(-1, layout_.varied, layout_.rest()));
  // A row's squares are those of one image; a sum of images has none.
  std::vector<int64_t> between = count.sizes().vec();
  between.push_back(layout_.rest_begin() - layout_.padded);
  return {count, at::cat({varied, at::zeros(between), rest}, -1)};
}

bool PldaRows::same_as(const FeatureTransform& other) const {
  const auto* rows = dynamic_cast<const PldaRows*>(&other);
  return rows != nullptr && rows->layout_.padded == layout_.padded && rows->space_.root == space_.root &&
         rows->space_.center.equal(space_.center) && rows->space_.projection.equal(space_.projection) &&
         rows->space_.offset.equal(space_.offset);
}

PldaRowBelief in_parts(const ClassMeanPrior& prior, const PldaLayout& layout) {
  const at::Tensor mean = prior.mean.to(at::kFloat);
  const at::Tensor variance = prior.variance.to(at::kFloat).expand_as(mean);
  const auto varied = [&](const at::Tensor& values) { return padded_row(values.narrow(-1, 0, layout.varied)); };
  const at::Tensor rest = layout.rest() > 0 ? variance.select(-1, layout.varied) : at::zeros(mean.sizes().slice(0, 1));
  return {varied(mean), varied(variance), padded_row(mean.narrow(-1, layout.varied, layout.rest())), rest.contiguous()};
}

PldaRowBelief row_posterior(const PldaRowBelief& prior, const at::Tensor& count, const at::Tensor& sum,
                            const PldaLayout& layout) {
  const at::Tensor gain = (1 + count.unsqueeze(-1) * prior.variance_varied).reciprocal();
  const at::Tensor gain_rest = (1 + count * prior.variance_rest).reciprocal();
  const at::Tensor sum_rest = sum.narrow(-1, layout.rest_begin(), prior.mean_rest.size(-1));
  return {(prior.mean_varied + prior.variance_varied * sum.narrow(-1, 0, layout.padded)) * gain,
          prior.variance_varied * gain,
          (prior.mean_rest + prior.variance_rest.unsqueeze(-1) * sum_rest) * gain_rest.unsqueeze(-1),
          prior.variance_rest * gain_rest};
}

at::Tensor rows_of_means(const PldaRowBelief& belief) { return row_of(belief.mean_varied, belief.mean_rest); }

PldaRowVariance in_parts(const at::Tensor& variance, const PldaLayout& layout) {
  const at::Tensor all = variance.to(at::kFloat);
  return {padded_row(all.narrow(0, 0, layout.varied)), layout.rest() > 0 ? all[layout.varied] : at::zeros({})};
}

PldaRowMetric row_metric(const PldaRowVariance& before, const at::Tensor& count, const PldaLayout& layout) {
  const at::Tensor images = count.mean(-1, true).unsqueeze(-1);  // [..., 1, 1]
  const at::Tensor varied = before.varied / (1 + images * before.varied);
  const at::Tensor rest = before.rest / (1 + images * before.rest);
  const at::Tensor volume = varied.log1p().sum(-1) + static_cast<double>(layout.rest()) * rest.squeeze(-1).log1p();
  return {(1 + varied).reciprocal(), (1 + rest).reciprocal(), volume + static_cast<double>(layout.dims) * kLogTwoPi};
}

PldaRowPredictive row_predictive(const at::Tensor& rows, const PldaRowMetric& metric) {
  // -2 log N = q^2 w - 2 q (w m) + m^2 w + constant: linear in a row's parts.
  const int64_t padded = metric.varied.size(-1);
  const int64_t rest_begin = 2 * padded + kRowMultiple;
  const auto part = [&](int64_t from, int64_t to) { return rows.slice(-1, from, to); };
  const at::Tensor weight = at::cat({-0.5 * metric.varied, padded_row(-0.5 * metric.rest)}, -1);  // of the squares
  std::vector<int64_t> each = rows.sizes().vec();
  each.back() = weight.size(-1);
  return {at::cat({metric.varied * part(0, padded), weight.expand(each), metric.rest * part(rest_begin, rows.size(-1))},
                  -1),
          metric.constant - 2 * (weight * part(padded, rest_begin)).sum(-1)};
}

at::Tensor row_log_predictive(const PldaRowPredictive& predictive, const at::Tensor& rows) {
  return row_products(rows, predictive.prototypes) - 0.5 * predictive.constant.unsqueeze(-2);
}

at::Tensor row_log_predictive_of_images(const PldaRowPredictive& images, const at::Tensor& means) {
  return row_products(images.prototypes, means) - 0.5 * images.constant.unsqueeze(-1);
}

}  // namespace protocom
