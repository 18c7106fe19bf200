#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/test_result.h"

namespace protocom {

/// Computes all figures of a test from TestResult::tested: counts, accuracy with its interval, calibration, classes,
/// confusion. `names`: the recognizer's classes in their order. Images of unknown classes count only in `unknown`;
/// figures on its own classes stay unset without an image of them.
void take_figures(const std::vector<std::string>& names, TestResult& result);

/// Returns the indices in `tested` of at most `most` wrong answers, most certain first: for images of its own classes,
/// and if it is calibrated for unknown ones that it accepts. A refusal is not an answer.
std::vector<int64_t> worst_answers(const TestResult& result, int64_t most);

/// Returns the recognizer's confidence in an answer: its certainty times the probability that the image is of any
/// class.
double sureness(const TestedImage& image);

/// Compares two recognizers on the same images, in the same order, of classes that both or neither have. Throws Error
/// for different images and if there is none of the classes of both.
TestComparison compare_tests(const TestResult& first, const TestResult& second);

/// Returns "83.3 % right (95 %: 69.4 to 91.7), 40 of 48".
std::string accuracy_sentence(const TestResult& result);

/// Returns "8.3 points better (95 %: -2.1 to 18.0), McNemar's p = 0.22: right by the second alone: 7 images, by the
/// first alone: 3".
std::string comparison_sentence(const TestComparison& comparison);

}  // namespace protocom
