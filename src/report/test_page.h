#pragma once
#include <optional>
#include <string>

#include "protocom/test_result.h"
#include "report/analysis_sections.h"

namespace protocom {

/// Content of a page about a test.
struct TestPage {
  const TestResult* first = nullptr;
  const TestResult* second = nullptr;             ///< on the same images; null for a test of one recognizer
  std::optional<TestComparison> comparison = {};  ///< of the two
  PictureSource picture = {};                     ///< by TestedImage::image
  int64_t worst = 24;  ///< number of wrong answers, and of images answered differently, to show
};

/// Returns one self-contained HTML page: the figures, the most confident wrong answers with their pictures, a
/// reliability diagram, the confusion matrix and the classes; with two recognizers also the images that they answer
/// differently.
std::string test_page(const TestPage& page);

}  // namespace protocom
