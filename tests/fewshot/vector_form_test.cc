#include "fewshot/vector_form.h"

#include <gtest/gtest.h>

#include "protocom/core/error.h"

namespace protocom {
namespace {

TEST(VectorForms, EndWithTheFormThatEveryProcessorRuns) {
  EXPECT_EQ(vector_form_names().back(), "baseline");
  EXPECT_EQ(vector_form_name(), vector_form_names().front());
  EXPECT_THROW(use_vector_form("abacus"), UsageError);
}

}  // namespace
}  // namespace protocom
