#pragma once
#include <string>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom {

/// Labelled images as features.
struct TestFeatures {
  NewExamples examples;             ///< `sources` [n] are their names
  std::vector<std::string> labels;  ///< [n], the right classes
  std::vector<int64_t> numbers;     ///< [n], indices among all images given, readable or not; ascending
  SkippedFiles skipped = {};
  std::vector<UnreadableFile> unreadable = {};  ///< what could not be read
};

/// Tests a recognizer on labelled images, one request per class (labelled_images). Class names are compared as at
/// enrolment. Images whose content is enrolled are left out, and so are unreadable ones. Throws Error if no class is
/// enrolled, none of the classes is the recognizer's, no image can be read, or all images of its classes are enrolled.
TestResult test_recognizer(Recognizer& recognizer, const std::vector<EnrolRequest>& classes,
                           Progress& progress = Progress::none());
/// Tests it on features.
TestResult test_recognizer(Recognizer& recognizer, TestFeatures images);

/// Two recognizers tested on the same images.
struct ComparedTests {
  TestResult first, second;
  TestComparison comparison;
};

/// Tests both on the images that neither holds and that both can read, of classes that both or neither have; others are
/// counted in TestResult::unshared. Throws as test_recognizer(), and Error if no class is common to both there.
ComparedTests compare_recognizers(Recognizer& first, Recognizer& second, const std::vector<EnrolRequest>& classes,
                                  Progress& progress = Progress::none());

}  // namespace protocom
