#pragma once
#include <cstdint>
#include <filesystem>

#include "recognizer/test_recognizer.h"

namespace protocom::cli {

/// The figures, classes and at most `worst` wrong answers of a test, as tables that fit the terminal.
void print_test(const TestResult& result, int64_t worst);

/// Of two tests both figures side by side, their difference, and at most `worst` photos that are answered
/// differently.
void print_comparison(const ComparedTests& tests, int64_t worst);

/// A row a photo, of two tests with the columns of both.
void write_test_csv(const std::filesystem::path& path, const TestResult& first, const TestResult* second);

}  // namespace protocom::cli
