#pragma once
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/method.h"
#include "fewshot/plda/detail/float_space.h"
#include "fewshot/plda/model.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {

/// How the fast form keeps an image f of a PldaSpace. In the last dimensions (all that no base class differs in) a
/// model has one variance between classes, so these matter through lengths and products alone:
///   [ f_a | f_a^2 | |f_b|^2 | f_b ],   a: the dimensions with variances of their own, b: the rest,
/// each part filled up with zeros to a multiple of kRowMultiple. A log predictive is then a product of two rows.
struct PldaLayout {
  int64_t dims = 0;     ///< e, of the space
  int64_t leading = 0;  ///< dimensions in which base classes differ, all of them in a
  int64_t varied = 0;   ///< dimensions of a
  int64_t padded = 0;   ///< length of f_a and of f_a^2

  [[nodiscard]] int64_t rest() const { return dims - varied; }
  [[nodiscard]] int64_t rest_begin() const;  ///< of f_b; |f_b|^2 stands at 2 * padded
  [[nodiscard]] int64_t width() const;
};

/// The dimensions with variances [e] of their own: those up to the last whose variance is not that of the very last
/// one, at least `leading`.
int64_t varied_dims(const DoubleVector& variances, int64_t leading);

/// The layout of a model: as few dimensions of their own as its variances allow, but all that fill up the padding.
PldaLayout plda_layout(const PldaModel& model);

/// Images of classes, added up.
struct ClassSums {
  Eigen::VectorXf count;  ///< [n]
  FloatMatrix rows;       ///< [n, width]
};

/// Features to such rows.
class PldaRows : public FeatureTransform {
 public:
  explicit PldaRows(const PldaModel& model);
  [[nodiscard]] int64_t width(int64_t /*dim*/) const override { return layout_.width(); }
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;
  /// The rows [m, width] of features [m, d].
  [[nodiscard]] FloatMatrix rows_of(const FeatureRows& features) const;
  /// What each class's images add up to, which have not been through it. Squares are left 0, so that what is linear is
  /// done once a class, not once an image.
  [[nodiscard]] ClassSums sums(const TaskImages& images) const;
  [[nodiscard]] const PldaLayout& layout() const { return layout_; }

 private:
  /// f of directions [m, d], in rows that are zeros: as sums of `count` [m].
  void compute_linear(const FloatMatrix& z, const Eigen::VectorXf& count, Eigen::Ref<FloatMatrix> rows) const;

  PldaLayout layout_;
  FloatSpace space_;
};

/// f [k, dims] of such rows.
DoubleMatrix dims_of_rows(const std::vector<const float*>& rows, const PldaLayout& layout);

/// Beliefs of class means in parts, one row per class: a ClassMeanPrior, or the posterior after images.
struct PldaRowBelief {
  FloatMatrix mean_varied;        ///< [n, padded]
  FloatMatrix variance_varied;    ///< [n, padded], 0 in the padding
  FloatMatrix mean_rest;          ///< [n, rest padded]
  Eigen::VectorXf variance_rest;  ///< [n]

  [[nodiscard]] int64_t classes() const { return mean_varied.rows(); }
  /// Of these classes.
  [[nodiscard]] PldaRowBelief of(const std::vector<int64_t>& which) const;
};

/// The same belief in parts. `prior` has means [n, e].
PldaRowBelief in_parts(const ClassMeanPrior& prior, const PldaLayout& layout);

/// The posterior of ClassMeanPrior in parts, after `count` [n] images and the sum [n, width] of their rows. Counts may
/// differ between classes, be 0 (then it is the prior) or fractions.
PldaRowBelief row_posterior(const PldaRowBelief& prior, const Eigen::VectorXf& count, const FloatMatrix& sum,
                            const PldaLayout& layout);

/// Class means of a belief as rows [n, width] of the same layout as images.
FloatMatrix rows_of_means(const PldaRowBelief& belief);

/// A variance of class means in parts.
struct PldaRowVariance {
  Eigen::RowVectorXf varied;  ///< [padded], 0 in the padding
  float rest = 0;
};
PldaRowVariance in_parts(const DoubleVector& variance, const PldaLayout& layout);

/// 1 + v: by what images are compared with class means. One for all classes of a task, v = s / (1 + K s) with the mean
/// K of their numbers of images. v of its own for each would be right if variances were; they are overstated on purpose
/// (fit_variance_laws), and then the class of fewest images loses them all to the others, or gains all
/// (docs/log/plda.md).
struct PldaRowMetric {
  Eigen::RowVectorXf varied;  ///< [padded], 1 / (1 + v)
  float rest = 0;             ///< the same of the rest
  float constant = 0;         ///< sum log(1 + v) + d log 2 pi
};

/// Of classes that have `images` images each, on average, and had the variance s before them.
PldaRowMetric row_metric(const PldaRowVariance& before, double images, const PldaLayout& layout);

/// Rows of class means, or, because the log predictive is symmetric, of images, as what others are compared with: one
/// product and one constant each.
struct PldaRowPredictive {
  FloatMatrix prototypes;    ///< [n, width]
  Eigen::VectorXf constant;  ///< [n]
};
PldaRowPredictive row_predictive(const FloatMatrix& rows, const PldaRowMetric& metric);

/// N(m, 1 + b) of a class of which no image is known, one class of `prior`.
PldaRowPredictive class_never_seen(const PldaRowBelief& prior, const PldaRowVariance& between,
                                   const PldaLayout& layout);

/// log N(q; m, 1 + v) = -1/2 (sum_d [(q - m)^2 / (1 + v) + log(1 + v)] + d log 2 pi) of rows, each [width]: [q, n].
FloatMatrix row_log_predictive(const PldaRowPredictive& predictive, const std::vector<const float*>& rows);

/// The same of classes after their images: the posterior of `prior` by their numbers [n] and sums, and the variance
/// `before` of class means.
FloatMatrix log_predictives(const PldaRowBelief& prior, const PldaRowVariance& before, const Eigen::VectorXf& count,
                            const FloatMatrix& sum, const PldaLayout& layout, const std::vector<const float*>& rows);

}  // namespace protocom
