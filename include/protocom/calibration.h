#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// Error rates on held-out images at one familiarity threshold.
struct Exchange {
  double false_accept = 0;  ///< share of unknown images that are accepted
  double accepted = 0;      ///< share of images of the classes that are accepted
  double threshold = 0;     ///< the familiarity threshold
};

/// Options for choosing the threshold of "none of these".
struct CalibrateOptions {
  /// Share of unknown images that may be accepted, in (0, 1).
  std::optional<double> false_accept = {};
  /// Used without a rate: whether to choose the balanced threshold, at which the share of unknown images accepted
  /// equals the share of images of the classes refused. Always so if unknown images are given.
  bool similar = false;
};

/// The factor that scales a method's logits into those of calibrated probabilities, and the threshold of "none of
/// these".
struct Calibration {
  std::string method;       ///< label of the method that it was fitted for
  double factor = 1;        ///< multiplies the logits before the softmax
  double threshold = 0;     ///< images with a familiarity above it are of one of the classes
  double false_accept = 0;  ///< share of unknown images above it: the one requested, else the expected one, in [0, 1]
  double accepted = 0;      ///< the share of held-out images of the classes above it, in [0, 1]
  double accuracy = 0;      ///< accuracy on held-out images of the classes, in [0, 1]
  int64_t images = 0;   ///< number of held-out images; 0: fewer than four could be held out, and the threshold is from
                        ///< held-out classes
  int64_t unknown = 0;  ///< number of unknown images
  int64_t classes = 0;  ///< number of enrolled classes at that time
  std::string names = {};  ///< hash of their names; empty: unknown
  double slope = 1;        ///< slope of the log odds of being one of the classes; they are 0 at the threshold
  bool balanced =
      false;  ///< whether the share of unknown images that pass equals the share of images of the classes refused
  /// Whether similar kinds are refused too; else only different kinds, and at most 5 % of the images of the classes.
  bool similar = true;
  bool of_others = false;      ///< whether the unknown images were given; else they are images of held-out classes
  std::string class_ids = {};  ///< hash of the classes' numbers in the file; empty: unknown
  std::vector<Exchange> exchange = {};  ///< at rates of 1, 2, 5, 10, 15, 20, 30 and 50 %, unless images are too few
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::CalibrateOptions;
using v0::Calibration;
using v0::Exchange;
}  // namespace protocom
