#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/expected_accuracy.h"
#include "recognizer/class_scorer.h"

namespace protocom {

/// Leave-one-out over the enrolled images: leaves one moment of each class (moments.h) out at a time and classifies one
/// image of each. A transductive method classifies those that are left out together.
ExpectedAccuracy expected_accuracy(const ClassScorer& scorer, Progress& progress = Progress::none());

/// An enrolled image that expected_accuracy() leaves out and classifies.
struct LeftOutImage {
  int64_t own = 0;    ///< number of its class
  int64_t image = 0;  ///< its number in the class
};
/// All of them.
std::vector<LeftOutImage> left_out_images(const ClassScorer& scorer);

/// Leave-one-out answers for images, by their own features and by other features of the same images.
struct LeftOutComparison {
  int64_t asked = 0;
  int64_t right = 0, right_by_others = 0;
  int64_t changed = 0;  ///< of these another class comes first
};
/// `others`: features float32 [n, d] of `images`, which are some of left_out_images().
LeftOutComparison compare_left_out(const ClassScorer& scorer, const std::vector<LeftOutImage>& images,
                                   const Array& others);

/// "6 classes, 18 photos, no base classes: expected accuracy on new photos 81 %, between 66 and 91 % with 90 %
/// confidence (leave-one-out over 18 photos); 3 more photos per class should add about 6 points." Where photos are of
/// the same moments: "18 photos, 9 moments". `basis`: "no base classes".
std::string sentence_of(const ExpectedAccuracy& expected, const std::string& basis);

}  // namespace protocom
