#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "recognizer/calibration.h"

namespace protocom {

/// Familiarities of images that the scorer had not seen.
struct Familiarities {
  DoubleVector own;     ///< [m], images of the classes
  DoubleVector others;  ///< [k], images of none of the classes
  /// Factor on the share of `others` above a threshold. n / (n - 1) where they are images of n classes, each left out
  /// in turn: an image of none of the classes can be mistaken for one class more than they could.
  double likelier = 1;

  [[nodiscard]] bool has_others() const { return others.size() > 0; }
};

/// The conformal quantile: a new image of none of the classes exceeds it with a probability of at most `rate`. Throws
/// Error where `others` are too few for the rate.
double threshold_of(const Familiarities& of, double rate);

/// Greatest share of images of the classes that is refused if only different kinds are to be.
inline constexpr double kOwnRefused = 0.05;
/// Images on which such a threshold may stand.
inline constexpr int64_t kFewestHeldOut = 4;

/// The conformal quantile at kOwnAim is aimed at fewer than are promised: at kOwnRefused itself it keeps the promise
/// only in the mean, and half of all collections would refuse more.
inline constexpr double kOwnAim = 0.9 * kOwnRefused;

/// A bound that a new value of the same kind lies below with a probability of at most kOwnAim: the conformal quantile
/// without interpolation, the floor((n + 1) kOwnAim)-th smallest value (Vovk et al. 2005). It exists from 22 values on.
/// Of fewer, the smaller of the smallest value and the normal prediction bound, mean - t s sqrt(1 + 1 / n) with
/// Student's t of n - 1 degrees of freedom, of half of kOwnRefused, since familiarities have a longer tail below than
/// the normal. At least kFewestHeldOut values.
double own_threshold(const DoubleVector& own);

/// The slope at such a threshold: that of the log odds of two normals of the values' variance v, one around their mean,
/// the other as far on the threshold's other side, 2 (mean - threshold) / v.
double own_slope(const DoubleVector& own, double threshold);

/// The threshold at which the share of accepted others is nearest to the share of refused own images.
double balanced_threshold(const Familiarities& of);

/// The shares of others (at most 1) and of own images above a threshold.
Exchange exchange_at(const Familiarities& of, double threshold);

/// exchange_at() the thresholds of those kExchangeRates for which there are enough others.
std::vector<Exchange> exchanges_of(const Familiarities& of);

/// The slope, above 0, of a logistic regression of "is one of the classes" on familiarity, with the same total weight
/// for own images and others.
double slope_of(const Familiarities& of);

}  // namespace protocom
