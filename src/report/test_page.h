#pragma once
#include <optional>
#include <string>

#include "protocom/test_result.h"
#include "report/analysis_sections.h"

namespace protocom {

/// What a page about a test shows.
struct TestPage {
  const TestResult* first = nullptr;
  const TestResult* second = nullptr;             ///< on the same images; null for a test of one recognizer
  std::optional<TestComparison> comparison = {};  ///< of the two
  PictureSource picture = {};                     ///< by TestedImage::image
  int64_t worst = 24;                             ///< wrong answers, and images answered differently, that are shown
};

/// One HTML page that needs nothing else: the figures, the surest wrong answers with their pictures, a reliability
/// diagram, the confusion matrix and the classes; of two recognizers also the images that they answer differently.
std::string test_page(const TestPage& page);

}  // namespace protocom
