#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// The error rates of a threshold of familiarity, on held-out images.
struct Exchange {
  double false_accept = 0;  ///< share of unknown images that are accepted
  double accepted = 0;      ///< share of images of the classes that are accepted
  double threshold = 0;     ///< of familiarity
};

/// Which threshold of "none of these" is wanted.
struct CalibrateOptions {
  /// The share of unknown images that may be accepted, in (0, 1).
  std::optional<double> false_accept = {};
  /// Without a rate: whether the threshold is the balanced point, at which as many unknown images are accepted as
  /// images of the classes are refused. It is where unknown images are given.
  bool similar = false;
};

/// The factor that turns a method's scores into probabilities, and the threshold of "none of these".
struct Calibration {
  std::string method;       ///< label of the method it is for
  double factor = 1;        ///< of the logits, before the softmax
  double threshold = 0;     ///< images with a familiarity above it are of one of the classes
  double false_accept = 0;  ///< share of unknown images above it: the one requested, else the expected one, in [0, 1]
  double accepted = 0;      ///< the share of held-out images of the classes above it, in [0, 1]
  double accuracy = 0;      ///< of held-out images of the classes, in [0, 1]
  int64_t images = 0;       ///< held-out images; 0: no class has two, and the threshold is from held-out classes
  int64_t unknown = 0;      ///< unknown images
  int64_t classes = 0;      ///< enrolled classes at that time
  std::string names = {};   ///< a hash of their names; empty: unknown
  double slope = 1;         ///< of the log odds of being one of the classes, which are 0 at the threshold
  bool balanced = false;    ///< whether as many unknown images pass as images of the classes are refused
  /// Whether similar kinds are refused too; else only different kinds, and at most 5 % of the images of the classes.
  bool similar = true;
  bool of_others = false;               ///< whether the unknown images were given; else they are of held-out classes
  std::string class_ids = {};           ///< a hash of the numbers of the classes in the file; empty: not known
  std::vector<Exchange> exchange = {};  ///< at 1, 2, 5, 10, 15, 20, 30 and 50 %, unless there are too few images
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::CalibrateOptions;
using v0::Calibration;
using v0::Exchange;
}  // namespace protocom
