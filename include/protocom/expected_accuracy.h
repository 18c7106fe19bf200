#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// An enrolled image with a wrong leave-one-out answer: mislabelled, or of a class that resembles another one.
struct LeftOutMistake {
  std::string class_name;
  int64_t image = 0;       ///< row among the images of its class
  std::string taken_for;   ///< the predicted class
  int64_t example = 0;     ///< its id, see ExampleInfo; 0 if not from a Recognizer
  bool confirmed = false;  ///< ExampleInfo::confirmed: not mislabelled
};

/// The expected accuracy on new images of the enrolled classes, by leave-one-out. A held-out image is classified with
/// one image of its class fewer than a new one; this is corrected by assuming that the error falls as 1 / sqrt(K + .3)
/// with K images (moments) per class, as it did on average on val and base classes (docs/results/own-photos.md).
struct ExpectedAccuracy {
  int64_t classes = 0;
  int64_t images = 0;   ///< number of enrolled images
  int64_t moments = 0;  ///< number of moments in these: frames of a burst and copies show one moment
  /// Classes whose photos are nearly the same, if most are so: if each shows frames of one moment, the accuracy on new
  /// images is lower than expected here. Set by a Recognizer.
  int64_t nearly_same = 0;
  int64_t asked = 0;    ///< moments held out and classified, by one image each; 0: no class has two
  double accuracy = 0;  ///< accuracy on those, in [0, 1]
  double expected = 0;  ///< expected accuracy on new images, in [0, 1]
  /// A range that contains the accuracy on new images in nine of ten cases: Wilson's interval for half as many images
  /// as were held out, since these are not independent, nor are new ones of the same classes.
  double low = 0, high = 1;
  /// Expected gain in accuracy, in points, from kMoreImages further images per class. Empty if nothing was held out.
  std::optional<double> gain = {};
  static constexpr int64_t kMoreImages = 3;
  int64_t unlabelled = 0;                         ///< number of unlabelled images used
  std::optional<double> without_unlabelled = {};  ///< `expected` without the unlabelled images; empty: there are none
  std::vector<LeftOutMistake> mistakes = {};      ///< the wrong answers
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::ExpectedAccuracy;
using v0::LeftOutMistake;
}  // namespace protocom
