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

/// How rows of a space become rows of the DiagonalSpace that labelled images make of it, in the one low-rank form that
/// all adapted spaces have: rows less `origin`, whitened.
struct AdaptedAxes {
  DoubleVector origin;  ///< [e]
  LowRankWhitening whitening;
  /// Whether the axes are the whitening's directions, and the rest is represented by lengths; else they stay as they
  /// were.
  bool turned = false;
  DiagonalSpace space;

  /// Rows [k, e] and the squared lengths [k] of what images have outside the e dimensions; none if it is empty.
  [[nodiscard]] PlacedImages place(const DoubleMatrix& x, const DoubleVector& outside = {}) const;
  /// The same with an axis of its own for each of the e dimensions.
  [[nodiscard]] AdaptedAxes complete() const;
};

/// A space for the classes at hand, and its loss on held-out images.
struct AdaptedSpace {
  AdaptedAxes axes;
  double nu = 0;                       ///< degrees that S0 counts as
  double degrees = 0;                  ///< that its within-class covariance counts as
  std::optional<ScaledLoss> left_out;  ///< of images left out; none if none can be
};

/// Where no space was fitted: S0 and the covariance of class means are multiples of I, and the axes are the
/// eigenvectors of S. Class means update S as images do, to the extent that their covariance differs from a multiple of
/// I in the same directions as S does from S0: with one image per class nothing else is known of S. `rows` are
/// directions z in coordinates of a subspace that has their differences, of `dims` dimensions in all. Of many images,
/// 2000 or the first fold that has as many are left out, and fewer from 500 classes on; LeftOut::kAll where the space
/// is compared with another by their losses.
AdaptedSpace isotropic_space(const ClassRows& rows, double dims, const PldaAdaptation& adaptation, LeftOut which);

/// In a fitted space with the variances `between` [e] of class means, in which `rows` are the labelled images f. Class
/// means say nothing of S here: where few foreign classes differ, `between` is an extrapolation.
AdaptedSpace fitted_space(const ClassRows& rows, const DoubleVector& between, const PldaAdaptation& adaptation);

/// The variances of a fitted space between the classes at hand (added_between), by their rows in it; `between` [e], of
/// which the first `leading` are of dimensions in which the fitted classes differ.
DoubleVector between_at_hand(const ClassRows& rows, DoubleVector between, int64_t leading,
                             const PldaAdaptation& adaptation);

/// Whether a space of the labelled images alone, which are as many as dimensions, is surely better than the fitted one.
bool is_surely_better(const AdaptedSpace& alone, const AdaptedSpace& fitted);

}  // namespace protocom
