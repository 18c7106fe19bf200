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
};

/// The conformal quantile: a new image of none of the classes exceeds it with a probability of at most `rate`. Throws
/// Error where `others` are too few for the rate.
double threshold_of(const Familiarities& of, double rate);

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
