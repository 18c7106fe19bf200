#include "fewshot/plda/space.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "fewshot/plda/detail/directions.h"
#include "fewshot/toolbox/detail/complete_basis.h"

namespace protocom {
namespace {

constexpr double kSmallestTrace = 1e-12;

template <typename Number>
void check_labelled(const Eigen::Ref<const RowMatrix<Number>>& features, const std::vector<int64_t>& labels,
                    const DoubleVector& center) {
  if (features.rows() != static_cast<int64_t>(labels.size()) || labels.empty()) {
    fail("expected features [m, d] with labels [m] of at least one image, found [{}, {}] and [{}]", features.rows(),
         features.cols(), labels.size());
  }
  if (center.size() != features.cols())
    fail("the center has the shape [{}], expected [{}], one number a feature", center.size(), features.cols());
}

/// Rows are converted to float64 in pieces, so that 32,000 x 512 is not in memory three times.
constexpr int64_t kRows = 4096;

std::vector<int64_t> distinct(std::vector<int64_t> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// Adds sum z z' of rows [m, d] to the lower triangle. Sums of so many products in single precision have an error near
/// 1e-6, like the features they are made from.
template <typename Number>
void add_squares(const DoubleMatrix& z, DoubleMatrix& sum) {
  RowMatrix<Number> factor(z.rows(), z.cols());
  factor = z.template cast<Number>();
  RowMatrix<Number> square = RowMatrix<Number>::Zero(z.cols(), z.cols());
  square.template selfadjointView<Eigen::Lower>().rankUpdate(factor.transpose());
  sum += square.template cast<double>();
}

/// Adds rows to the sums of their classes.
void add_to_classes(const DoubleMatrix& z, const int64_t* labels, UnitMoments& sums) {
  for (int64_t i = 0; i < z.rows(); ++i) {
    const auto own = std::lower_bound(sums.classes.begin(), sums.classes.end(), labels[i]) - sums.classes.begin();
    sums.count[own] += 1;
    sums.mean.row(own) += z.row(i);
  }
}

}  // namespace

template <typename Number>
UnitMoments unit_moments(const Eigen::Ref<const RowMatrix<Number>>& features, const std::vector<int64_t>& labels,
                         const DoubleVector& center) {
  check_labelled<Number>(features, labels, center);
  UnitMoments found{center, distinct(labels), {}, {}, DoubleMatrix::Zero(features.cols(), features.cols())};
  const auto classes = static_cast<int64_t>(found.classes.size());
  found.count = DoubleVector::Zero(classes);
  found.mean = DoubleMatrix::Zero(classes, features.cols());
  for (int64_t at = 0; at < features.rows(); at += kRows) {
    DoubleMatrix z = features.middleRows(at, std::min(kRows, features.rows() - at)).template cast<double>();
    take_directions(z, center.transpose());
    add_to_classes(z, labels.data() + at, found);
    add_squares<Number>(z, found.scatter);
  }
  if (!std::isfinite(found.scatter.sum())) fail("a feature is not finite: check the program that made the features");
  found.mean = found.count.cwiseInverse().asDiagonal() * found.mean;
  // sum (z - m)(z - m)' = sum z z' - sum_c n_c m_c m_c': one pass over the images, before the means are known.
  const DoubleMatrix weighted = found.count.cwiseSqrt().asDiagonal() * found.mean;
  found.scatter.selfadjointView<Eigen::Lower>().rankUpdate(weighted.transpose(), -1);
  found.scatter.triangularView<Eigen::StrictlyUpper>() = found.scatter.transpose();
  return found;
}

template UnitMoments unit_moments<float>(const Eigen::Ref<const FloatMatrix>& features,
                                         const std::vector<int64_t>& labels, const DoubleVector& center);
template UnitMoments unit_moments<double>(const Eigen::Ref<const DoubleMatrix>& features,
                                          const std::vector<int64_t>& labels, const DoubleVector& center);

UnitMoments join(const UnitMoments& a, const UnitMoments& b) {
  UnitMoments both{a.center, a.classes, DoubleVector(a.count.size() + b.count.size()),
                   DoubleMatrix(a.mean.rows() + b.mean.rows(), a.mean.cols()), a.scatter + b.scatter};
  both.classes.insert(both.classes.end(), b.classes.begin(), b.classes.end());
  both.count << a.count, b.count;
  both.mean << a.mean, b.mean;
  return both;
}

DoubleMatrix PldaSpace::transform(DoubleMatrix features) const {
  if (root) take_roots(features);
  take_directions(features, center.transpose());
  return transform_means(features);
}

DoubleMatrix PldaSpace::transform_means(const Eigen::Ref<const DoubleMatrix>& means) const {
  DoubleMatrix f(means.rows(), projection.cols());
  f.noalias() = means * projection;
  f.rowwise() -= offset.transpose();
  return f;
}

PldaSpaceFitter::PldaSpaceFitter(UnitMoments moments) : moments_(std::move(moments)) {
  const size_t classes = moments_.classes.size();
  if (classes < 2) fail("a space of classes needs at least 2 base classes, found {}", classes);
  const double degrees = moments_.count.sum() - static_cast<double>(classes);
  if (degrees < 1 || !(moments_.scatter.trace() > kSmallestTrace)) {
    fail(
        "no base class has two different images, which the within-class variance needs: give at least one class two "
        "images");
  }
  // Shared by every shrinkage: adding a multiple of I to a covariance does not change its eigenvectors.
  within_ = eigen_rows(moments_.scatter / degrees);
  within_.values = within_.values.cwiseMax(0);
}

PldaSpace PldaSpaceFitter::space(double shrinkage) const {
  if (!(shrinkage > 0 && shrinkage <= 1)) fail_usage("shrinkage: expected a number in (0, 1], found {}", shrinkage);
  const int64_t classes = moments_.mean.rows(), d = moments_.mean.cols();
  const DoubleVector within = (1 - shrinkage) * within_.values.array() + shrinkage * within_.values.mean();
  const DoubleMatrix whitening = within_.vectors.transpose() * within.cwiseSqrt().cwiseInverse().asDiagonal();
  const Eigen::RowVectorXd grand = moments_.mean.colwise().mean();
  const DoubleMatrix deviation = (moments_.mean.rowwise() - grand) * whitening;  // [c, d]
  PldaSpace space;
  space.center = moments_.center;
  space.leading = std::min(classes - 1, d);
  // In the other directions class means do not differ, but images do: any orthonormal basis of them will do.
  const DoubleMatrix basis = complete_basis(leading_axes(deviation, space.leading).colwise().reverse().transpose());
  space.projection = whitening * basis;
  space.offset = (grand * space.projection).transpose();
  // The mean of n images differs from that of its class by a variance of 1 / n in whitened dimensions, which is not a
  // difference of classes.
  const double error = moments_.count.cwiseInverse().mean();
  const DoubleMatrix spread = deviation * basis.leftCols(space.leading);
  space.between = DoubleVector::Zero(d);
  space.between.head(space.leading) =
      (spread.colwise().squaredNorm().transpose().array() / static_cast<double>(classes - 1) - error).max(0);
  return space;
}

}  // namespace protocom
