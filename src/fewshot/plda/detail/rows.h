#pragma once
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/method.h"
#include "fewshot/plda/detail/float_space.h"
#include "fewshot/plda/model.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {

/// The layout of an image f of a PldaSpace in the fast form. In the last dimensions (all those in which base classes do
/// not differ) a model has one variance between classes, so only lengths and products matter there:
///   [ f_a | f_a^2 | |f_b|^2 | f_b ],   a: the dimensions with variances of their own, b: the rest,
/// each part padded with zeros to a multiple of kRowMultiple. A log predictive is then a product of two rows.
struct PldaLayout {
  int64_t dims = 0;     ///< e, of the space
  int64_t leading = 0;  ///< dimensions in which base classes differ, all of them in a
  int64_t varied = 0;   ///< dimensions of a
  int64_t padded = 0;   ///< length of f_a and of f_a^2

  [[nodiscard]] int64_t rest() const { return dims - varied; }
  [[nodiscard]] int64_t rest_begin() const;  ///< beginning of f_b; |f_b|^2 is at 2 * padded
  [[nodiscard]] int64_t width() const;
};

/// Returns the number of dimensions with variances [e] of their own: up to the last one whose variance differs from
/// that of the final dimension, at least `leading`.
int64_t varied_dims(const DoubleVector& variances, int64_t leading);

/// Returns the layout of a model: as few dimensions of their own as its variances allow, extended to fill the padding.
PldaLayout plda_layout(const PldaModel& model);

/// The images of classes, summed.
struct ClassSums {
  Eigen::VectorXf count;  ///< [n]
  FloatMatrix rows;       ///< [n, width]
};

/// Maps features to such rows.
class PldaRows : public FeatureTransform {
 public:
  explicit PldaRows(const PldaModel& model);
  [[nodiscard]] int64_t width(int64_t /*dim*/) const override { return layout_.width(); }
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;
  /// Returns the rows [m, width] of features [m, d].
  [[nodiscard]] FloatMatrix rows_of(const FeatureRows& features) const;
  /// Returns the sum of each class's unmapped images as rows. Squares are left 0, so that the linear map is applied
  /// once per class, not per image.
  [[nodiscard]] ClassSums sums(const TaskImages& images) const;
  [[nodiscard]] const PldaLayout& layout() const { return layout_; }

 private:
  /// Computes f of directions [m, d], in zeroed rows: sums of `count` [m] images.
  void compute_linear(const FloatMatrix& z, const Eigen::VectorXf& count, Eigen::Ref<FloatMatrix> rows) const;

  PldaLayout layout_;
  FloatSpace space_;
};

/// Returns f [k, dims] of such rows.
DoubleMatrix dims_of_rows(const std::vector<const float*>& rows, const PldaLayout& layout);

/// Beliefs about class means in parts, one row per class: a ClassMeanPrior, or the posterior after images.
struct PldaRowBelief {
  FloatMatrix mean_varied;        ///< [n, padded]
  FloatMatrix variance_varied;    ///< [n, padded], 0 in the padding
  FloatMatrix mean_rest;          ///< [n, rest padded]
  Eigen::VectorXf variance_rest;  ///< [n]

  [[nodiscard]] int64_t classes() const { return mean_varied.rows(); }
  /// Returns the beliefs about these classes.
  [[nodiscard]] PldaRowBelief of(const std::vector<int64_t>& which) const;
};

/// Converts a prior with means [n, e] into parts.
PldaRowBelief in_parts(const ClassMeanPrior& prior, const PldaLayout& layout);

/// Returns the posterior of ClassMeanPrior in parts, after `count` [n] images with sum [n, width] of rows. Counts may
/// differ between classes, be 0 (the posterior is then the prior) or fractions.
PldaRowBelief row_posterior(const PldaRowBelief& prior, const Eigen::VectorXf& count, const FloatMatrix& sum,
                            const PldaLayout& layout);

/// Returns the class means of a belief as rows [n, width] of the same layout as images.
FloatMatrix rows_of_means(const PldaRowBelief& belief);

/// A variance of class means in parts.
struct PldaRowVariance {
  Eigen::RowVectorXf varied;  ///< [padded], 0 in the padding
  float rest = 0;
};
PldaRowVariance in_parts(const DoubleVector& variance, const PldaLayout& layout);

/// 1 + v, the variance for comparing images with class means. The same for all classes of a task, v = s / (1 + K s)
/// with the mean K of their numbers of images. A v for each class would be right if variances were; they are overstated
/// on purpose (fit_variance_laws), and then the class of fewest images loses all queries to the others, or gains all
/// (docs/log/plda.md).
struct PldaRowMetric {
  Eigen::RowVectorXf varied;  ///< [padded], 1 / (1 + v)
  float rest = 0;             ///< 1 / (1 + v) of the rest
  float constant = 0;         ///< sum log(1 + v) + d log 2 pi
};

/// Returns the metric for classes with `images` images each, on average, and the variance s before them.
PldaRowMetric row_metric(const PldaRowVariance& before, double images, const PldaLayout& layout);

/// Rows to compare others with: of class means or, because the log predictive is symmetric, of images. Each comparison
/// takes one product and one constant.
struct PldaRowPredictive {
  FloatMatrix prototypes;    ///< [n, width]
  Eigen::VectorXf constant;  ///< [n]
};
PldaRowPredictive row_predictive(const FloatMatrix& rows, const PldaRowMetric& metric);

/// Returns N(m, 1 + b) of a class without images, which is the one class of `prior`.
PldaRowPredictive class_never_seen(const PldaRowBelief& prior, const PldaRowVariance& between,
                                   const PldaLayout& layout);

/// Returns log N(q; m, 1 + v) = -1/2 (sum_d [(q - m)^2 / (1 + v) + log(1 + v)] + d log 2 pi) of rows, each [width]:
/// [q, n].
FloatMatrix row_log_predictive(const PldaRowPredictive& predictive, const std::vector<const float*>& rows);

/// Returns log predictives for classes given their images: the posterior of `prior` by their numbers [n] and sums, and
/// the variance `before` of class means.
FloatMatrix log_predictives(const PldaRowBelief& prior, const PldaRowVariance& before, const Eigen::VectorXf& count,
                            const FloatMatrix& sum, const PldaLayout& layout, const std::vector<const float*>& rows);

}  // namespace protocom
