#include "base/near_matches.h"

#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

TEST(NearMatches, AreWithinAThirdOfTheLengthOrContainTheText) {
  EXPECT_EQ(edit_distance("crane", "carne"), 1) << "a swap";
  EXPECT_EQ(did_you_mean("robbin", {"robin", "wren"}), "; did you mean 'robin'?");
  EXPECT_EQ(did_you_mean("1", {"001", "7"}), "; did you mean '001' or '7'?") << "spreadsheets drop zeros";
  EXPECT_EQ(did_you_mean("crane", {"demoiselle crane"}), "; did you mean 'demoiselle crane'?");
  EXPECT_EQ(did_you_mean("owl", {"albatross"}), "");
}

TEST(NearMatches, OfVeryLongTextsAreNotLookedFor) {
  const std::string longer(1'000'000, 'a');
  EXPECT_EQ(did_you_mean(longer, {longer}), "");
  EXPECT_EQ(did_you_mean("aa", {longer, "ab"}), "; did you mean 'ab'?");
}

TEST(NearMatches, OfManyNamesAreThoseShown) {
  EXPECT_EQ(names_with_hints({"robbin", "owl", "x"}, {"robin"}, 2), "'robbin'; did you mean 'robin'?, 'owl', ...");
  EXPECT_EQ(names_with_hints({"owl"}, {}, 2), "'owl'");
}

}  // namespace
}  // namespace protocom::testing
