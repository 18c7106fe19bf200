#include "base/enum_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/message_of.h"

namespace protocom {
namespace {

enum class Sky { kClear, kCloudy, kStormy };
constexpr EnumWord<Sky> kSkies[] = {{Sky::kClear, "clear"}, {Sky::kCloudy, "cloudy"}};
constexpr EnumWord<Sky> kOnlySky[] = {{Sky::kClear, "clear"}};

TEST(EnumWords, BothDirectionsAreOneTable) {
  static_assert(word_of(kSkies, Sky::kCloudy) == "cloudy");
  for (const auto& [value, word] : kSkies) {
    EXPECT_EQ(value_of(kSkies, word, "sky"), value);
    EXPECT_EQ(word_of(kSkies, value), word);
  }
}

TEST(EnumWordsDeathTest, AValueThatTheTableLeavesOutIsOurBug) {
  EXPECT_DEATH(word_of(kSkies, Sky::kStormy), "names every value");
}

TEST(EnumWords, AnUnknownWordIsRefusedWithThoseThatAreKnown) {
  EXPECT_EQ(testing::usage_message_of([] { value_of(kSkies, "Clear", "sky"); }),
            "unknown sky 'Clear': expected clear or cloudy");
  EXPECT_EQ(testing::usage_message_of([] { value_of(kOnlySky, "", "sky"); }), "unknown sky '': expected clear");
  EXPECT_LT(testing::usage_message_of([] { value_of(kSkies, std::string(5000, 'x'), "sky"); }).size(), 200U);
}

}  // namespace
}  // namespace protocom
