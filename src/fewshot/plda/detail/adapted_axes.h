#pragma once
#include <functional>
#include <optional>

#include "fewshot/plda/detail/class_rows.h"
#include "fewshot/plda/detail/diagonal_classes.h"
#include "fewshot/plda/detail/isotropic.h"
#include "fewshot/plda/detail/left_out_folds.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/detail/scatter.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// The map from rows of a space to rows of the DiagonalSpace made from labelled images, in the low-rank form common to
/// all adapted spaces: rows minus `origin`, whitened.
struct AdaptedAxes {
  DoubleVector origin;  ///< [e]
  LowRankWhitening whitening;
  /// Whether the axes are the whitening's directions, with the rest represented by lengths; else they are unchanged.
  bool turned = false;
  DiagonalSpace space;

  /// Maps rows [k, e], with the squared lengths [k] of the images' components outside the e dimensions; empty: none.
  [[nodiscard]] PlacedImages place(const DoubleMatrix& x, const DoubleVector& outside = {}) const;
  /// Returns the same map with an axis of its own for each of the e dimensions.
  [[nodiscard]] AdaptedAxes complete() const;
};

/// A space for the current classes, and its loss on held-out images.
struct AdaptedSpace {
  AdaptedAxes axes;
  double nu = 0;                       ///< degrees of S0
  double degrees = 0;                  ///< degrees of its within-class covariance
  std::optional<ScaledLoss> left_out;  ///< for held-out images; empty if none can be left out
};

/// Makes a space without a fitted one: S0 and the covariance of class means are multiples of I, and the axes are the
/// eigenvectors of S. Class means update S as images do, to the extent that their covariance deviates from a multiple
/// of I in the same directions as S does from S0: with one image per class nothing else is known of S. `rows` are
/// directions z in coordinates of a subspace that contains their differences, of `dims` dimensions in all. With many
/// images, 2000, or the first fold that has as many, are left out, and fewer for 500 classes or more; LeftOut::kAll is
/// for comparing the space with another by their losses.
AdaptedSpace isotropic_space(const ClassRows& rows, double dims, const PldaAdaptation& adaptation, LeftOut which);

/// Adapts a fitted space with the variances `between` [e] of class means, in which `rows` are the labelled images f.
/// Class means do not affect S here: where few foreign classes differ, `between` is an extrapolation.
AdaptedSpace fitted_space(const ClassRows& rows, const DoubleVector& between, const PldaAdaptation& adaptation);

/// Returns the variances of a fitted space between the current classes (added_between), from their rows in it;
/// `between` [e], of which the first `leading` are of dimensions in which the fitted classes differ.
DoubleVector between_at_hand(const ClassRows& rows, DoubleVector between, int64_t leading,
                             const PldaAdaptation& adaptation);

/// Whether a space of the labelled images alone, if they are as many as dimensions, is surely better than the fitted
/// one.
bool is_surely_better(const AdaptedSpace& alone, const AdaptedSpace& fitted);

}  // namespace protocom
