#pragma once
#include "base/matrix.h"

namespace protocom {

/// A space in which images of a class have covariance I and class means covariance diag(between). It may have further
/// dimensions in which the current classes do not differ: there class means have one variance.
struct DiagonalSpace {
  DoubleVector between;     ///< [p]
  double rest_dims = 0;     ///< number of further dimensions
  double rest_between = 0;  ///< variance of class means there
};

/// Images in that space.
struct PlacedImages {
  DoubleMatrix x;     ///< [k, p]
  DoubleVector rest;  ///< [k], squared lengths in the further dimensions

  [[nodiscard]] PlacedImages rows(int64_t first, int64_t count) const {
    return {x.middleRows(first, count), rest.segment(first, count)};
  }
};

/// Returns log N(x; 0, 1 + between) of images, [k]: the density of an unseen class.
DoubleVector log_densities_around_zero(const DiagonalSpace& space, const PlacedImages& images);

/// The classes' posteriors given their labelled images, and the predictive density of other images: each class mean has
/// the posterior mean m = b sum / (1 + K b) from K images, and images are compared with it with variance 1 + v. v is
/// the same for all classes, b / (1 + k b) with the mean k of their numbers of images: a v for each class would be
/// right if variances were; they are overstated on purpose (fit_variance_laws), and then a variance per class lets the
/// class with the fewest images win all images or none (docs/log/plda.md).
class DiagonalClasses {
 public:
  /// `count` [n]: number of labelled images; `sum` [n, p]: of their rows; images may count in part.
  DiagonalClasses(const DiagonalSpace& space, const DoubleVector& count, const DoubleMatrix& sum);

  /// Returns log predictives [k, n] of images x [k, p], up to a constant per image: (x - m / 2)' P m with P = 1 /
  /// (1 + v).
  [[nodiscard]] DoubleMatrix linear_scores(const DoubleMatrix& x) const;
  /// Returns log N(x; m, 1 + v), [k, n].
  [[nodiscard]] DoubleMatrix log_predictives(const PlacedImages& images) const;

 private:
  DiagonalSpace variance_;  // with v as `between`
  DoubleMatrix weighted_;   // P m, [n, p]
  DoubleVector half_;       // m' P m / 2, [n]
};

}  // namespace protocom
