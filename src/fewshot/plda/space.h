#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace protocom {

/// What labelled features tell about their classes after z = (x - center) / |x - center|. float64, but for the products
/// of z in `scatter`, which are as exact as the type of the features they are made of.
struct UnitMoments {
  at::Tensor center;   ///< [d]
  at::Tensor classes;  ///< int64 [c], the labels that occur, ascending
  at::Tensor count;    ///< [c], images of each class
  at::Tensor mean;     ///< [c, d], mean of z of each class
  at::Tensor scatter;  ///< [d, d], sum over all images of (z - mean of its class)(z - mean of its class)'
};

/// Moments of features [m, d] (any float type) with labels int64 [m]. Throws Error when there is no image, sizes
/// disagree or a feature is not finite.
UnitMoments unit_moments(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& center);

/// Moments of two sets of classes together, which have the same center and no class in common.
UnitMoments join(const UnitMoments& a, const UnitMoments& b);

/// Whether a space of such features takes their square roots: where none is negative, as after a ReLU. They are skewed,
/// and their roots closer to Gaussian; val classes and base classes gain .4 to 9 points (docs/methods/plda.md).
bool root_of(const at::Tensor& features);

/// A linear space after z in which images of a class scatter with covariance I around a mean that is drawn from N(0,
/// diag(between)): probabilistic linear discriminant analysis (Ioffe 2006; Prince and Elder 2007).
///
/// The first `leading` dimensions are those in which the classes that it was fitted on differ, in falling order; in the
/// rest, which are an orthonormal basis of what remains, they do not. float64.
struct PldaSpace {
  at::Tensor center;      ///< [d]
  at::Tensor projection;  ///< [d, e], e <= d
  at::Tensor offset;      ///< [e]
  at::Tensor between;     ///< [e], not negative
  int64_t leading = 0;
  /// Features are replaced by sign(x) sqrt |x| before z (root_of).
  bool root = false;

  /// What z is made of: features [..., d] or their roots, in their own dtype.
  [[nodiscard]] at::Tensor rooted(const at::Tensor& features) const;
  /// z of features [..., d], in their own dtype.
  [[nodiscard]] at::Tensor directions(const at::Tensor& features) const;
  /// f = z projection - offset, [..., e] for features [..., d], in the features' own dtype (float32 or float64).
  [[nodiscard]] at::Tensor transform(const at::Tensor& features) const;
  /// The same for class means of z, [c, d].
  [[nodiscard]] at::Tensor transform_means(const at::Tensor& means) const;
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
  at::Tensor eigenvalues_;
  at::Tensor eigenvectors_;
};

}  // namespace protocom
