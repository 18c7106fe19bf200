#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "base/symmetric_eigen.h"

namespace protocom {

/// What labelled features tell about their classes after z = (x - center) / |x - center|. float64, but for the products
/// of z in `scatter`, which are as exact as the type of the features they are made of.
struct UnitMoments {
  DoubleVector center;           ///< [d]
  std::vector<int64_t> classes;  ///< [c], the labels that occur, ascending
  DoubleVector count;            ///< [c], images of each class
  DoubleMatrix mean;             ///< [c, d], mean of z of each class
  DoubleMatrix scatter;          ///< [d, d], sum over all images of (z - mean of its class)(z - mean of its class)'
};

/// Moments of features [m, d] of float or double with labels [m]. Throws Error when there is no image, sizes disagree
/// or a feature is not finite.
template <typename Number>
UnitMoments unit_moments(const Eigen::Ref<const RowMatrix<Number>>& features, const std::vector<int64_t>& labels,
                         const DoubleVector& center);

/// Moments of two sets of classes together, which have the same center and no class in common.
UnitMoments join(const UnitMoments& a, const UnitMoments& b);

/// A linear space after z in which images of a class scatter with covariance I around a mean that is drawn from N(0,
/// diag(between)): probabilistic linear discriminant analysis (Ioffe 2006; Prince and Elder 2007).
///
/// The first `leading` dimensions are those in which the classes that it was fitted on differ, in falling order; in the
/// rest, which are an orthonormal basis of what remains, they do not.
struct PldaSpace {
  DoubleVector center;      ///< [d]
  DoubleMatrix projection;  ///< [d, e], e <= d
  DoubleVector offset;      ///< [e]
  DoubleVector between;     ///< [e], not negative
  int64_t leading = 0;
  /// Features are replaced by sign(x) sqrt |x| before z if none is negative, as after a ReLU. They are skewed, and
  /// their roots closer to Gaussian; val classes and base classes gain .4 to 9 points (docs/methods/plda.md).
  bool root = false;

  /// f = z projection - offset, [m, e] for features [m, d].
  [[nodiscard]] DoubleMatrix transform(DoubleMatrix features) const;
  /// The same for class means of z, [c, d].
  [[nodiscard]] DoubleMatrix transform_means(const Eigen::Ref<const DoubleMatrix>& means) const;
};

/// Spaces of the same moments with different shrinkage share the eigendecomposition of the within-class covariance.
class PldaSpaceFitter {
 public:
  /// Throws Error for fewer than two classes, and when no class has two different images.
  explicit PldaSpaceFitter(UnitMoments moments);

  /// The space with S_w' = (1 - s) S_w + s tr(S_w)/d I, where S_w is the pooled within-class covariance and s, the
  /// shrinkage, is in (0, 1]: z is whitened by S_w'^-1/2 and turned to the eigenvectors of the covariance of the class
  /// means. `between` are its eigenvalues less the sampling error of the means, the mean of 1 / count, at least 0.
  /// Throws UsageError for another shrinkage.
  [[nodiscard]] PldaSpace space(double shrinkage) const;
  [[nodiscard]] const UnitMoments& moments() const { return moments_; }

 private:
  UnitMoments moments_;
  EigenRows within_;
};

}  // namespace protocom
