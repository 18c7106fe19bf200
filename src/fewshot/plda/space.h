#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "base/symmetric_eigen.h"

namespace protocom {

/// Statistics of labelled features after z = (x - center) / |x - center|. float64, except the products of z in
/// `scatter`, which have the precision of the type of the features.
struct UnitMoments {
  DoubleVector center;           ///< [d]
  std::vector<int64_t> classes;  ///< [c], the labels that occur, ascending
  DoubleVector count;            ///< [c], number of images of each class
  DoubleMatrix mean;             ///< [c, d], mean of z of each class
  DoubleMatrix scatter;          ///< [d, d], sum over all images of (z - mean of its class)(z - mean of its class)'
};

/// Computes the moments of features [m, d] of float or double with labels [m]. Throws Error if there is no image, sizes
/// differ or a feature is not finite.
template <typename Number>
UnitMoments unit_moments(const Eigen::Ref<const RowMatrix<Number>>& features, const std::vector<int64_t>& labels,
                         const DoubleVector& center);

/// Returns the moments of two sets of classes together, which have the same center and no class in common.
UnitMoments join(const UnitMoments& a, const UnitMoments& b);

/// A linear space after z in which images of a class scatter with covariance I around a mean that is drawn from N(0,
/// diag(between)): probabilistic linear discriminant analysis (Ioffe 2006; Prince and Elder 2007).
///
/// The first `leading` dimensions are those in which the fitted classes differ, in descending order; in the rest, which
/// are an orthonormal basis of the remaining space, they do not.
struct PldaSpace {
  DoubleVector center;      ///< [d]
  DoubleMatrix projection;  ///< [d, e], e <= d
  DoubleVector offset;      ///< [e]
  DoubleVector between;     ///< [e], not negative
  int64_t leading = 0;
  /// Features are replaced by sign(x) sqrt |x| before z if none is negative, as after a ReLU. They are skewed, and
  /// their roots are closer to Gaussian; val classes and base classes gain .4 to 9 points (docs/methods/plda.md).
  bool root = false;

  /// Returns f = z projection - offset, [m, e], for features [m, d].
  [[nodiscard]] DoubleMatrix transform(DoubleMatrix features) const;
  /// Maps class means of z, [c, d], likewise.
  [[nodiscard]] DoubleMatrix transform_means(const Eigen::Ref<const DoubleMatrix>& means) const;
};

/// Fits spaces to the same moments with different shrinkage, which share the eigendecomposition of the within-class
/// covariance.
class PldaSpaceFitter {
 public:
  /// Throws Error for fewer than two classes, and if no class has two different images.
  explicit PldaSpaceFitter(UnitMoments moments);

  /// Returns the space with S_w' = (1 - s) S_w + s tr(S_w)/d I, where S_w is the pooled within-class covariance and s,
  /// the shrinkage, is in (0, 1]: z is whitened by S_w'^-1/2 and rotated to the eigenvectors of the covariance of the
  /// class means. `between` are its eigenvalues minus the sampling error of the means, the mean of 1 / count, at least
  /// 0. Throws UsageError for another shrinkage.
  [[nodiscard]] PldaSpace space(double shrinkage) const;
  [[nodiscard]] const UnitMoments& moments() const { return moments_; }

 private:
  UnitMoments moments_;
  EigenRows within_;
};

}  // namespace protocom
