#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "recognizer/calibration.h"

namespace protocom {

/// Familiarities of held-out images.
struct Familiarities {
  DoubleVector own;     ///< [m], images of the classes
  DoubleVector others;  ///< [k], unknown images
  /// Factor on the share of `others` above a threshold: n / (n - 1) if they are images of n classes, each left out in
  /// turn, since an unknown image can be mistaken for one more class than they could.
  double likelier = 1;

  [[nodiscard]] bool has_others() const { return others.size() > 0; }
};

/// Returns the conformal quantile: a new unknown image exceeds it with a probability of at most `rate`. Throws Error if
/// there are too few `others` for the rate.
double threshold_of(const Familiarities& of, double rate);

/// Largest share of images of the classes that is refused if only different kinds are to be refused.
inline constexpr double kOwnRefused = 0.05;
/// Fewest images for such a threshold.
inline constexpr int64_t kFewestHeldOut = 4;

/// The share that the conformal quantile aims at, below the one promised: with kOwnRefused itself it would keep the
/// promise only on average, and half of all collections would refuse more.
inline constexpr double kOwnAim = 0.9 * kOwnRefused;

/// Returns a bound that a new value of the same kind falls below with a probability of at most kOwnAim: the conformal
/// quantile without interpolation, the floor((n + 1) kOwnAim)-th smallest value (Vovk et al. 2005), which exists for 22
/// values or more. For fewer values, the smaller of the smallest value and the normal prediction bound, mean - t s
/// sqrt(1 + 1 / n) with Student's t of n - 1 degrees of freedom, for half of kOwnRefused, since familiarities have a
/// longer lower tail than the normal. Needs at least kFewestHeldOut values.
double own_threshold(const DoubleVector& own);

/// Returns the slope at such a threshold: that of the log odds of two normals with the values' variance v, one around
/// their mean, the other mirrored at the threshold, 2 (mean - threshold) / v.
double own_slope(const DoubleVector& own, double threshold);

/// Returns the threshold at which the share of accepted others is closest to the share of refused own images.
double balanced_threshold(const Familiarities& of);

/// Returns the shares of others (at most 1) and of own images above a threshold.
Exchange exchange_at(const Familiarities& of, double threshold);

/// Returns exchange_at() at the thresholds of those kExchangeRates for which there are enough others.
std::vector<Exchange> exchanges_of(const Familiarities& of);

/// Returns the slope, above 0, of a logistic regression of "is one of the classes" on familiarity, with equal total
/// weight for own images and others.
double slope_of(const Familiarities& of);

}  // namespace protocom
