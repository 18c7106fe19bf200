#pragma once
#include <string>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom {

/// Labelled images as features.
struct TestFeatures {
  NewExamples examples;             ///< `sources` [n] are what they are called
  std::vector<std::string> labels;  ///< [n], the right classes
  std::vector<int64_t> numbers;     ///< [n], places among all that were given, readable or not; ascending
  SkippedFiles skipped = {};
  std::vector<UnreadableFile> unreadable = {};  ///< what could not be read
};

/// How good a recognizer is on labelled images, a request for each class (labelled_images). Names of classes are
/// compared as those of enrolments are. Images whose content is enrolled are left out, those that cannot be read too.
/// Throws Error if no class is enrolled, none of the classes is the recognizer's, no image can be read, and where
/// all images of its classes are enrolled.
TestResult test_recognizer(Recognizer& recognizer, const std::vector<EnrolRequest>& classes,
                           Progress& progress = Progress::none());
/// The same of features.
TestResult test_recognizer(Recognizer& recognizer, TestFeatures images);

/// Two recognizers on the same images.
struct ComparedTests {
  TestResult first, second;
  TestComparison comparison;
};

/// Tests both on the images that neither holds and that both can read, of classes that both or neither have; others are
/// counted in TestResult::unshared. Throws as test_recognizer(), and where they have no class in common there.
ComparedTests compare_recognizers(Recognizer& first, Recognizer& second, const std::vector<EnrolRequest>& classes,
                                  Progress& progress = Progress::none());

}  // namespace protocom
