#include "base/error.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <string>

namespace protocom {
namespace {

TEST(Error, AMessageIsOneLineWhateverIsQuotedInIt) {
  EXPECT_STREQ(Error("class 'a\nb\tc\r\x1b[31md' is not there").what(), "class 'a b c ?[31md' is not there");
  EXPECT_STREQ(Error("c1 \xc2\x9b"
                     "31m, turned \xe2\x80\xae"
                     "gpj")
                   .what(),
               "c1 ?31m, turned ?gpj");
  EXPECT_STREQ(UsageError("first\n\nsecond\n").what(), "first second");
}

TEST(Error, AMessageShowsBytesThatAreNoUtf8AndIsItselfUtf8) {
  EXPECT_STREQ(Error("class 'caf\xe9' is not there").what(), "class 'caf\\xe9' is not there");
  EXPECT_STREQ(Error("cut \xe2\x82, c1 \x9b, surrogate \xed\xa0\x80, long \xc0\xaf").what(),
               "cut \\xe2\\x82, c1 \\x9b, surrogate \\xed\\xa0\\x80, long \\xc0\\xaf");
  EXPECT_STREQ(Error("V\xc3\xb6gel \xf0\x9f\xa6\x93").what(), "V\xc3\xb6gel \xf0\x9f\xa6\x93");
  const std::string again = Error(Error("caf\xe9").what()).what();
  EXPECT_EQ(again, "caf\\xe9") << "a message that quotes another one";
}

TEST(Error, AMessageHasAtMostAThousandBytesAndKeepsBothEnds) {
  const std::string message = Error("begins " + std::string(100'000, 'x') + " ends").what();
  EXPECT_LE(message.size(), 1000u);
  EXPECT_EQ(message.substr(0, 8), "begins x");
  EXPECT_EQ(message.substr(message.size() - 6), "x ends");
  const std::string letters = Error("x" + std::string(3000, '\xc3').append("y")).what();
  EXPECT_LE(letters.size(), 1000u);
}

TEST(Error, ALongQuotedValueIsShortenedBetweenItsLetters) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt("abcdefghij", 8), "abcdefg…");
  std::string umlauts;
  for (int i = 0; i < 10; ++i) umlauts += "ü";
  EXPECT_EQ(excerpt(umlauts, 8), "üüü…") << "seven bytes hold three whole letters";
}

TEST(Error, WhatLibTorchSaysIsQuotedWithoutItsOwnMarks) {
  const auto reason = [](const std::string& text) { return reason_of(c10::Error({"f", "x.cpp", 82}, text)); };
  EXPECT_EQ(
      reason("isTuple()INTERNAL ASSERT FAILED at \"ivalue.h\":1306, please report a bug to PyTorch. Expected Tuple "
             "but got String"),
      "Expected Tuple but got String");
  EXPECT_EQ(reason("x INTERNAL ASSERT FAILED at \"x.cpp\":82, please report a bug to PyTorch. "),
            "it is damaged, or not a file of LibTorch");
  EXPECT_EQ(reason("[enforce fail at inline_container.cc:145] . PytorchStreamReader failed reading zip archive"),
            "PytorchStreamReader failed reading zip archive");
}

}  // namespace
}  // namespace protocom
