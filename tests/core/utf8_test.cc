#include "protocom/core/utf8.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

TEST(IsUtf8, TellsTextFromOtherBytes) {
  for (const char* text : {"", "plain", "V\xc3\xb6gel", "\xe2\x82\xac", "\xf0\x9f\xa6\x93"})
    EXPECT_TRUE(is_utf8(text)) << text;
  // Windows-1252, cut off, longer than it need be, a surrogate, above the last character.
  for (const char* text : {"V\xf6gel", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace protocom
