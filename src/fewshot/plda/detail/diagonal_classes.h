#pragma once
#include "base/matrix.h"

namespace protocom {

/// A space in which images of a class have the covariance I and class means diag(between). It may have more dimensions,
/// in which the classes at hand do not differ: there class means have one variance.
struct DiagonalSpace {
  DoubleVector between;     ///< [p]
  double rest_dims = 0;     ///< how many more dimensions
  double rest_between = 0;  ///< variance of class means there
};

/// Images in it.
struct PlacedImages {
  DoubleMatrix x;     ///< [k, p]
  DoubleVector rest;  ///< [k], squared lengths in the other dimensions

  [[nodiscard]] PlacedImages rows(int64_t first, int64_t count) const {
    return {x.middleRows(first, count), rest.segment(first, count)};
  }
};

/// log N(x; 0, 1 + between) of images, [k]: that of a class never seen.
DoubleVector log_densities_around_zero(const DiagonalSpace& space, const PlacedImages& images);

/// What is believed of classes after their labelled images, and how likely others are by that: each class mean has the
/// posterior mean m = b sum / (1 + K b) of K images, and images are compared with it by the variance 1 + v. v is
/// one for all classes, b / (1 + k b) with the mean k of their numbers of images: v of its own for each would be right
/// if variances were; they are overstated on purpose (fit_variance_laws), and then a variance per class lets the class
/// with the fewest images win all images or none (docs/log/plda.md).
class DiagonalClasses {
 public:
  /// `count` [n] of the labelled images and `sum` [n, p] of their rows; images may count in part.
  DiagonalClasses(const DiagonalSpace& space, const DoubleVector& count, const DoubleMatrix& sum);

  /// Log predictives [k, n] of images x [k, p], but for a number for each image: (x - m / 2)' P m with P = 1 / (1 + v).
  [[nodiscard]] DoubleMatrix linear_scores(const DoubleMatrix& x) const;
  /// log N(x; m, 1 + v), [k, n].
  [[nodiscard]] DoubleMatrix log_predictives(const PlacedImages& images) const;

 private:
  DiagonalSpace variance_;  // v in place of `between`
  DoubleMatrix weighted_;   // P m, [n, p]
  DoubleVector half_;       // m' P m / 2, [n]
};

}  // namespace protocom
