#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// An enrolled image that its class's other images do not tell: mislabelled, or of a class that looks alike.
struct LeftOutMistake {
  std::string class_name;
  int64_t image = 0;      ///< row among the images of its class
  std::string taken_for;  ///< the class that came first
  int64_t example = 0;    ///< see ExampleInfo; 0 if not from a Recognizer
};

/// How many new images of the enrolled classes will be classified right, by leaving enrolled images out. The images
/// held out are classified with one image per class less than new ones will be; the error is taken to fall as 1 /
/// sqrt(K + .3) with K images (moments) per class, as it did on average on val and base classes
/// (docs/results/own-photos.md).
struct ExpectedAccuracy {
  int64_t classes = 0;
  int64_t images = 0;   ///< enrolled
  int64_t moments = 0;  ///< that they show: frames of a burst and copies are of one
  int64_t asked = 0;    ///< moments left out and classified by the others, by one image each; 0: no class has two
  double accuracy = 0;  ///< of those, in [0, 1]
  double expected = 0;  ///< of new images, in [0, 1]
  /// What new images will be in nine of ten cases (Wilson's interval of half as many images as were asked: they are not
  /// independent, and neither are new ones of the same classes).
  double low = 0, high = 1;
  /// Points of accuracy that kMoreImages further images of each class should add. None if nothing was asked.
  std::optional<double> gain = {};
  static constexpr int64_t kMoreImages = 3;
  int64_t unlabelled = 0;                         ///< unlabelled images, which count
  std::optional<double> without_unlabelled = {};  ///< `expected` as if there were none; none if there are none
  std::vector<LeftOutMistake> mistakes = {};      ///< of those asked, the wrong ones
};

}  // namespace protocom::v0

namespace protocom {
using v0::ExpectedAccuracy;
using v0::LeftOutMistake;
}  // namespace protocom
