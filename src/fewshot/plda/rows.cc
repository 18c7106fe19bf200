#include "fewshot/plda/detail/rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fewshot/plda/detail/matrix_of_tensor.h"
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

DoubleMatrix dims_of_rows(const std::vector<const float*>& rows, const PldaLayout& layout) {
  DoubleMatrix f(static_cast<int64_t>(rows.size()), layout.dims);
  for (int64_t i = 0; i < f.rows(); ++i) {
    const Eigen::Map<const Eigen::RowVectorXf> row(rows[static_cast<size_t>(i)], layout.width());
    f.row(i) << row.head(layout.varied).cast<double>(), row.segment(layout.rest_begin(), layout.rest()).cast<double>();
  }
  return f;
}

PldaRowBelief PldaRowBelief::of(const std::vector<int64_t>& which) const {
  return {mean_varied(which, Eigen::all), variance_varied(which, Eigen::all), mean_rest(which, Eigen::all),
          variance_rest(which)};
}

PldaRowBelief in_parts(const ClassMeanPrior& prior, const PldaLayout& layout) {
  const FloatMatrix mean = matrix_of(prior.mean).cast<float>();
  const FloatMatrix variance = matrix_of(prior.variance.expand_as(prior.mean)).cast<float>();
  const int64_t n = mean.rows();
  PldaRowBelief belief{FloatMatrix::Zero(n, layout.padded), FloatMatrix::Zero(n, layout.padded),
                       FloatMatrix::Zero(n, padded_length(layout.rest())), Eigen::VectorXf::Zero(n)};
  belief.mean_varied.leftCols(layout.varied) = mean.leftCols(layout.varied);
  belief.variance_varied.leftCols(layout.varied) = variance.leftCols(layout.varied);
  belief.mean_rest.leftCols(layout.rest()) = mean.rightCols(layout.rest());
  if (layout.rest() > 0) belief.variance_rest = variance.col(layout.varied);
  return belief;
}

PldaRowBelief row_posterior(const PldaRowBelief& prior, const Eigen::VectorXf& count, const FloatMatrix& sum,
                            const PldaLayout& layout) {
  const auto sum_varied = sum.leftCols(layout.padded).array();
  const auto sum_rest = sum.rightCols(prior.mean_rest.cols()).array();
  const Eigen::ArrayXf gain_rest = (1 + count.array() * prior.variance_rest.array()).inverse();
  FloatMatrix gain = prior.variance_varied;
  gain.array().colwise() *= count.array();
  gain = (1 + gain.array()).inverse();
  PldaRowBelief posterior;
  posterior.mean_varied = (prior.mean_varied.array() + prior.variance_varied.array() * sum_varied) * gain.array();
  posterior.variance_varied = prior.variance_varied.cwiseProduct(gain);
  posterior.mean_rest = prior.mean_rest.array() + sum_rest.colwise() * prior.variance_rest.array();
  posterior.mean_rest.array().colwise() *= gain_rest;
  posterior.variance_rest = prior.variance_rest.array() * gain_rest;
  return posterior;
}

FloatMatrix rows_of_means(const PldaRowBelief& belief) {
  const int64_t padded = belief.mean_varied.cols(), rest = belief.mean_rest.cols();
  FloatMatrix rows = FloatMatrix::Zero(belief.classes(), 2 * padded + kRowMultiple + rest);
  rows.leftCols(padded) = belief.mean_varied;
  rows.middleCols(padded, padded) = belief.mean_varied.cwiseAbs2();
  rows.col(2 * padded) = belief.mean_rest.rowwise().squaredNorm();
  rows.rightCols(rest) = belief.mean_rest;
  return rows;
}

PldaRowVariance in_parts(const at::Tensor& variance, const PldaLayout& layout) {
  const Eigen::RowVectorXf all = vector_of(variance).cast<float>();
  PldaRowVariance parts{Eigen::RowVectorXf::Zero(layout.padded), layout.rest() > 0 ? all[layout.varied] : 0};
  parts.varied.head(layout.varied) = all.head(layout.varied);
  return parts;
}

PldaRowMetric row_metric(const PldaRowVariance& before, double images, const PldaLayout& layout) {
  const auto k = static_cast<float>(images);
  const Eigen::RowVectorXf varied = before.varied.array() / (1 + k * before.varied.array());
  const float rest = before.rest / (1 + k * before.rest);
  const float volume = varied.array().log1p().sum() + static_cast<float>(layout.rest()) * std::log1p(rest);
  return {(1 + varied.array()).inverse(), 1 / (1 + rest),
          volume + static_cast<float>(static_cast<double>(layout.dims) * kLogTwoPi)};
}

PldaRowPredictive row_predictive(const FloatMatrix& rows, const PldaRowMetric& metric) {
  // -2 log N = q^2 w - 2 q (w m) + m^2 w + constant: linear in a row's parts.
  const int64_t padded = metric.varied.size(), rest = rows.cols() - 2 * padded - kRowMultiple;
  PldaRowPredictive predictive{FloatMatrix::Zero(rows.rows(), rows.cols()), {}};
  FloatMatrix& prototypes = predictive.prototypes;
  prototypes.leftCols(padded) = rows.leftCols(padded) * metric.varied.asDiagonal();
  prototypes.middleCols(padded, padded).rowwise() = -0.5F * metric.varied;
  prototypes.col(2 * padded).setConstant(-0.5F * metric.rest);
  prototypes.rightCols(rest) = metric.rest * rows.rightCols(rest);
  const Eigen::VectorXf squares =
      rows.middleCols(padded, padded) * metric.varied.transpose() + metric.rest * rows.col(2 * padded);
  predictive.constant = metric.constant + squares.array();
  return predictive;
}

FloatMatrix row_log_predictive(const PldaRowPredictive& predictive, const std::vector<const float*>& rows) {
  const FloatMatrix& prototypes = predictive.prototypes;
  const auto count = static_cast<int64_t>(rows.size());
  FloatMatrix scores(count, prototypes.rows());
  row_dots({rows.data(), count, prototypes.data(), prototypes.rows(), prototypes.cols(), prototypes.rows()},
           scores.data());
  scores.rowwise() -= 0.5F * predictive.constant.transpose();
  return scores;
}

std::vector<const float*> pointers_to(const FloatMatrix& rows) {
  std::vector<const float*> pointers;
  for (int64_t i = 0; i < rows.rows(); ++i) pointers.push_back(rows.row(i).data());
  return pointers;
}

}  // namespace protocom
