#include "base/utf8.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

TEST(IsUtf8, TellsTextFromOtherBytes) {
  for (const char* text : {"", "plain", "V\xc3\xb6gel", "\xe2\x82\xac", "\xf0\x9f\xa6\x93"})
    EXPECT_TRUE(is_utf8(text)) << text;
  // Windows-1252, truncated, overlong, a surrogate, beyond the last character.
  for (const char* text : {"V\xf6gel", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(SteeringLetters, AreFoundWhereverTheyStandAndNothingElseIs) {
  for (const char* text : {"\x1b[31m", "a\x7f", "a\nb",
                           "\xc2\x9b"
                           "31m",
                           "\x9b"
                           "31m",
                           "a\xe2\x80\xae"
                           "gpj.exe",
                           "\xe2\x81\xa6", "\xe2\x81\xa9", "a\xe2\x80\xa8", "\xe0\x82\x9b"})
    EXPECT_TRUE(steers_terminals(text)) << text;
  for (const char* text : {"", "plain", "V\xc3\xb6gel", "\xc3\x9b", "\xe2\x82\xac", "\xf0\x9f\xa6\x93", "V\xf6gel",
                           "\xe2\x80\x8f", "\xe2\x81\xaa", "\xc2\xa0"})
    EXPECT_FALSE(steers_terminals(text)) << text;
  EXPECT_EQ(without_steering("a\xe2\x80\xae|\xc2\x9b\xc3\x96\n\tc\r"), "a?|?\xc3\x96\n\tc?");
}

}  // namespace
}  // namespace protocom
