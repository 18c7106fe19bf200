#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/test_result.h"

namespace protocom {

/// Computes all figures of a test from TestResult::tested: counts, accuracy with its interval, calibration, classes,
/// confusion. `names`: the recognizer's classes in their order. Images of unknown classes count in `unknown` alone; of
/// a test without an image of its own classes the figures of these stay as they are.
void take_figures(const std::vector<std::string>& names, TestResult& result);

/// The places in `tested` of at most `most` wrong answers that were given, the surest first: of images of its own
/// classes, and where it is calibrated of unknown ones that it accepts. What it refuses is not an answer.
std::vector<int64_t> worst_answers(const TestResult& result, int64_t most);

/// How sure the recognizer is of an answer that it gives: its certainty times the chance that it is of any class.
double sureness(const TestedImage& image);

/// Two recognizers on the same images, in the same order, of classes that both or neither have. Throws Error for other
/// images and without one of the classes of both.
TestComparison compare_tests(const TestResult& first, const TestResult& second);

/// "83.3 % right (95 %: 69.4 to 91.7), 40 of 48".
std::string accuracy_sentence(const TestResult& result);

/// "8.3 points better (95 %: -2.1 to 18.0), McNemar's p = 0.22: right by the second alone: 7 images, by the first
/// alone: 3".
std::string comparison_sentence(const TestComparison& comparison);

}  // namespace protocom
