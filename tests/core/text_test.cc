#include "protocom/core/text.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

TEST(FirstOf, ShowsAsManyAsItMayAndThatThereAreMore) {
  EXPECT_EQ(first_of({}, 2), "");
  EXPECT_EQ(first_of({"a", "b"}, 2), "a, b");
  EXPECT_EQ(first_of({"a", "b", "c"}, 2), "a, b, ...");
}

TEST(Trimmed, TakesBlanksFromBothEndsAndNoneFromWithin) {
  EXPECT_EQ(trimmed(" \t long tail\r\n"), "long tail");
  EXPECT_EQ(trimmed(" \n "), "");
}

}  // namespace
}  // namespace protocom
