#pragma once
#include <cstdint>
#include <filesystem>

#include "protocom/test_result.h"

namespace protocom {

/// Writes one row per photo, with the columns of one test or, on the same photos, of two; `second` may be null. Throws
/// Error if the two are of different photos, or the file cannot be written.
void write_test_csv(const std::filesystem::path& path, const TestResult& first, const TestResult* second);

/// Writes test_page() with at most `worst` wrong answers, and pictures of photos that can be read. Throws likewise.
void write_test_page(const std::filesystem::path& path, const TestResult& first, const TestResult* second,
                     int64_t worst);

}  // namespace protocom
