#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/expected_accuracy.h"
#include "recognizer/class_scorer.h"

namespace protocom {

/// Estimates accuracy by leave-one-out over the enrolled images: leaves one moment of each class (moments.h) out at a
/// time and classifies one image of each. A transductive method classifies the images left out at the same time
/// together.
ExpectedAccuracy expected_accuracy(const ClassScorer& scorer, Progress& progress = Progress::none());

/// An enrolled image that expected_accuracy() leaves out and classifies.
struct LeftOutImage {
  int64_t own = 0;    ///< index of its class
  int64_t image = 0;  ///< its index in the class
};
/// Returns all of these images.
std::vector<LeftOutImage> left_out_images(const ClassScorer& scorer);

/// Leave-one-out answers for images, from their own features and from other features of the same images.
struct LeftOutComparison {
  int64_t asked = 0;
  int64_t right = 0, right_by_others = 0;
  int64_t changed = 0;  ///< number of these whose most probable class changes
};
/// Compares them. `others`: features float32 [n, d] of `images`, which are some of left_out_images().
LeftOutComparison compare_left_out(const ClassScorer& scorer, const std::vector<LeftOutImage>& images,
                                   const Array& others);

/// Returns "6 classes, 18 photos, no base classes: expected accuracy on new photos 81 %, between 66 and 91 % with 90 %
/// confidence (leave-one-out over 18 photos); 3 more photos per class should add about 6 points." If photos share
/// moments: "18 photos, 9 moments". With ExpectedAccuracy::nearly_same, adds a warning instead of the gain. `basis`:
/// "no base classes".
std::string sentence_of(const ExpectedAccuracy& expected, const std::string& basis);

}  // namespace protocom
