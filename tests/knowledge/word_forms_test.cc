#include "knowledge/detail/word_forms.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

TEST(SameWord, IsFoundInTheSingularAndThePlural) {
  const std::pair<const char*, const char*> same[] = {
      {"horn", "horns"},       {"body", "bodies"}, {"finch", "finches"},        {"Webbed_Feet", "webbed foot"},
      {"hoof", "hooves"},      {"tooth", "teeth"}, {"knife", "knives"},         {"antenna", "antennae"},
      {"sleeve", "sleeves"},   {"lens", "lenses"}, {"long legs", " LONG_LEG "}, {"glass", "glasses"},
      {"whiskers", "whiskers"}};
  for (const auto& [a, b] : same) {
    EXPECT_TRUE(is_same_word(a, b)) << a << " " << b;
    EXPECT_TRUE(is_same_word(b, a)) << b << " " << a;
  }
}

TEST(SameWord, IsNotFoundInOthers) {
  const std::pair<const char*, const char*> others[] = {{"horn", "thorn"}, {"gla", "glass"}, {"foot", "footed"},
                                                        {"a", "as"},       {"wing", "tail"}, {"", "s"}};
  for (const auto& [a, b] : others) EXPECT_FALSE(is_same_word(a, b)) << a << " " << b;
}

}  // namespace
}  // namespace protocom
