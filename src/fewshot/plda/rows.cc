#include "fewshot/plda/detail/rows.h"

#include <algorithm>
#include <cmath>

#include "fewshot/plda/detail/directions.h"
#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/gaussian.h"

namespace protocom {
namespace {

/// Number of features mapped at once, so that they stay in a cache.
constexpr int64_t kPiece = 512;

}  // namespace

int64_t varied_dims(const DoubleVector& variances, int64_t leading) {
  int64_t varied = variances.size();
  while (varied > leading && variances[varied - 1] == variances[variances.size() - 1]) --varied;
  return varied;
}

int64_t PldaLayout::rest_begin() const { return 2 * padded + kRowMultiple; }

int64_t PldaLayout::width() const { return rest_begin() + padded_length(rest()); }

PldaLayout plda_layout(const PldaModel& model) {
  PldaLayout layout;
  layout.dims = model.space.between.size();
  layout.leading = model.space.leading;
  const int64_t needed = std::max(
      {int64_t{1}, varied_dims(model.space.between, layout.leading), varied_dims(model.residual, layout.leading)});
  layout.padded = padded_length(needed);
  layout.varied = std::min(layout.padded, layout.dims);
  return layout;
}

PldaRows::PldaRows(const PldaModel& model) : layout_(plda_layout(model)), space_(model.space) {}

FloatMatrix PldaRows::rows_of(const FeatureRows& features) const {
  FloatMatrix rows(features.rows(), layout_.width());
  map(features, rows);
  return rows;
}

void PldaRows::map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const {
  const int64_t padded = layout_.padded;
  rows.setZero();
  for (int64_t at = 0; at < features.rows(); at += kPiece) {
    const int64_t count = std::min(kPiece, features.rows() - at);
    FloatMatrix z = space_.rooted(features.middleRows(at, count));
    take_directions(z, space_.center);
    auto own = rows.middleRows(at, count);
    compute_linear(z, Eigen::VectorXf::Ones(count), own);
    own.middleCols(padded, padded) = own.leftCols(padded).cwiseAbs2();
    own.col(2 * padded) = own.middleCols(layout_.rest_begin(), layout_.rest()).rowwise().squaredNorm();
  }
}

void PldaRows::compute_linear(const FloatMatrix& z, const Eigen::VectorXf& count, Eigen::Ref<FloatMatrix> rows) const {
  const int64_t first = layout_.varied, others = layout_.rest();
  auto varied = rows.leftCols(first), rest = rows.middleCols(layout_.rest_begin(), others);
  varied.noalias() = z * space_.projection.leftCols(first);
  varied.noalias() -= count * space_.offset.head(first);
  rest.noalias() = z * space_.projection.rightCols(others);
  rest.noalias() -= count * space_.offset.tail(others);
}

ClassSums PldaRows::sums(const TaskImages& images) const {
  FloatMatrix z = space_.rooted(images.rows.leftCols(images.width));
  take_directions(z, space_.center);
  FloatMatrix sum = FloatMatrix::Zero(images.classes, z.cols());
  ClassSums sums{Eigen::VectorXf::Zero(images.classes), FloatMatrix::Zero(images.classes, layout_.width())};
  for (int64_t i = 0; i < z.rows(); ++i) {
    const auto at = static_cast<size_t>(i);
    const float weight = images.weights.empty() ? 1 : images.weights[at];
    sum.row(images.label[at]) += weight * z.row(i);
    sums.count[images.label[at]] += weight;
  }
  // The map is linear except for its offset, so it is applied to the sum: one product per class, not per image.
  compute_linear(sum, sums.count, sums.rows);
  return sums;
}

bool PldaRows::same_as(const FeatureTransform& other) const {
  const auto* rows = dynamic_cast<const PldaRows*>(&other);
  return rows != nullptr && rows->layout_.padded == layout_.padded && rows->space_ == space_;
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
  const int64_t n = prior.mean.rows();
  PldaRowBelief belief{FloatMatrix::Zero(n, layout.padded), FloatMatrix::Zero(n, layout.padded),
                       FloatMatrix::Zero(n, padded_length(layout.rest())), Eigen::VectorXf::Zero(n)};
  const DoubleMatrix& variance = prior.variance;
  const int64_t times = variance.rows() == n ? 1 : n;
  belief.mean_varied.leftCols(layout.varied) = prior.mean.leftCols(layout.varied).cast<float>();
  belief.variance_varied.leftCols(layout.varied) = variance.leftCols(layout.varied).cast<float>().replicate(times, 1);
  belief.mean_rest.leftCols(layout.rest()) = prior.mean.rightCols(layout.rest()).cast<float>();
  if (layout.rest() > 0) belief.variance_rest = variance.col(layout.varied).cast<float>().replicate(times, 1);
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

PldaRowVariance in_parts(const DoubleVector& variance, const PldaLayout& layout) {
  const Eigen::RowVectorXf all = variance.transpose().cast<float>();
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

PldaRowPredictive class_never_seen(const PldaRowBelief& prior, const PldaRowVariance& between,
                                   const PldaLayout& layout) {
  return row_predictive(rows_of_means(prior), row_metric(between, 0, layout));
}

FloatMatrix log_predictives(const PldaRowBelief& prior, const PldaRowVariance& before, const Eigen::VectorXf& count,
                            const FloatMatrix& sum, const PldaLayout& layout, const std::vector<const float*>& rows) {
  const FloatMatrix means = rows_of_means(row_posterior(prior, count, sum, layout));
  return row_log_predictive(row_predictive(means, row_metric(before, count.mean(), layout)), rows);
}

}  // namespace protocom
