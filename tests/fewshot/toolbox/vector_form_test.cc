#include "fewshot/vector_form.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace protocom {
namespace {

TEST(VectorForms, EndWithTheFormThatEveryProcessorRuns) {
  EXPECT_EQ(vector_form_names().back(), "baseline");
  const char* wished = std::getenv("PROTOCOM_VECTOR_FORM");  // as set by scripts/test-processors
  EXPECT_EQ(vector_form_name(), wished != nullptr ? wished : vector_form_names().front());
  EXPECT_THROW(use_vector_form("abacus"), UsageError);
}

}  // namespace
}  // namespace protocom
