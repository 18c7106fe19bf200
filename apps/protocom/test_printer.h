#pragma once
#include <cstdint>

#include "recognizer/test_recognizer.h"

namespace protocom::cli {

/// Prints the figures, classes and at most `worst` wrong answers of a test, as tables that fit the terminal.
void print_test(const TestResult& result, int64_t worst);

/// Prints the figures of two tests side by side, their difference, and at most `worst` photos that are answered
/// differently.
void print_comparison(const ComparedTests& tests, int64_t worst);

}  // namespace protocom::cli
