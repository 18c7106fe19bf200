#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "recognizer/calibration.h"

namespace protocom {

/// Familiarities of what a scorer did not know: `own` of the classes' images, `strangers` of others.
struct Familiarities {
  DoubleVector own;
  DoubleVector strangers;
  /// By how much likelier another image of none of the classes is taken for one than these strangers were: n / (n - 1)
  /// where each of n classes was left out in turn, because such an image has one class more to be taken for.
  double likelier = 1;
};

/// The familiarity that another stranger exceeds with a probability of at most `rate`, the conformal quantile. Throws
/// Error where the strangers are too few for the rate.
double threshold_of(const Familiarities& of, double rate);

/// Where as many strangers pass as own images are refused, as nearly as can be.
double balanced_threshold(const Familiarities& of);

/// The share of other strangers that pass, at most 1, and of own images that are kept, at a threshold.
Exchange exchange_at(const Familiarities& of, double threshold);

/// At the rates of kExchangeRates that the strangers are enough for.
std::vector<Exchange> exchanges_of(const Familiarities& of);

/// How steeply the log odds of being one of the classes rise with familiarity: logistic regression, own images and
/// strangers counting as much as each other. Above 0.
double slope_of(const Familiarities& of);

}  // namespace protocom
