#include "base/text.h"

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

TEST(NameAndWord, SaysTheFirstWordOfATitleWhereItIsNotTheName) {
  EXPECT_EQ(name_and_word("n01503061", "bird, fowl"), "n01503061 (bird)");
  EXPECT_EQ(name_and_word("bird", "bird, fowl"), "bird");
  EXPECT_EQ(name_and_word("fowl", "bird"), "fowl (bird)");
  EXPECT_EQ(name_and_word("fowl", ""), "fowl");
  EXPECT_EQ(name_and_word("Blue_Jay", "Blue Jay"), "Blue_Jay");
  EXPECT_EQ(name_and_word("012.Blue_Jay", "Blue Jay"), "012.Blue_Jay");
  EXPECT_EQ(name_and_word("hot_dog", "dog"), "hot_dog (dog)");
  EXPECT_EQ(name_and_word("12", "dozen"), "12 (dozen)");
}

}  // namespace
}  // namespace protocom
