#include "base/clean_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/logged.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

// Reported in public: rfjakob/gocryptfs pull request 992, zed-industries/zed issue 30503.
TEST(CleanName, ComposesWhatMacOsWritesDecomposed) {
  EXPECT_EQ(clean_name("cafe\xcc\x81"), "caf\xc3\xa9");
  EXPECT_EQ(clean_name("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(clean_name("\xe1\x84\x80\xe1\x85\xa1"), "\xea\xb0\x80") << "Hangul";
  EXPECT_EQ(clean_name("zebra"), "zebra");
}

TEST(CleanName, HasOneSpaceForEveryKindOfBlankAndNoneAtItsEnds) {
  EXPECT_EQ(clean_name(" polar  bear "), "polar bear");
  EXPECT_EQ(clean_name("polar\xc2\xa0"
                       "bear\xc2\xa0"),
            "polar bear")
      << "U+00A0";
  EXPECT_EQ(clean_name("polar\xe3\x80\x80"
                       "bear"),
            "polar bear")
      << "U+3000";
}

TEST(CleanName, LeavesWhatIsNoUtf8) { EXPECT_EQ(clean_name("caf\xe9"), "caf\xe9"); }

// Marks that are out of order would take hours here.
TEST(CleanName, LeavesTheFormOfWhatIsLongerThanAnyName) {
  std::string written = "e";
  for (int i = 0; i < 1'000'000; ++i) written += "\xcc\x81\xcc\xa3";  // U+0301, U+0323
  EXPECT_EQ(clean_name(written + " "), written);
  EXPECT_EQ(without_capitals(written), written);
  EXPECT_EQ(clean_name(written.substr(0, 5)), "\xe1\xba\xb9\xcc\x81");
}

TEST(CleanName, OfAClassHasSomethingToSee) {
  EXPECT_EQ(checked_class_name(" cafe\xcc\x81 "), "caf\xc3\xa9");
  EXPECT_EQ(checked_class_name("\xe2\x84\xaa"), "K") << "KELVIN SIGN";
  for (const char* blank : {"", " ", "\t", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x8b", " \xef\xbb\xbf "})
    EXPECT_THROW(checked_class_name(blank), UsageError) << blank;
  EXPECT_THROW(checked_class_name("a\x1b[2J"), UsageError);
}

TEST(CleanName, OfANewClassIsNotTheAnswerForNoneOfThem) {
  EXPECT_EQ(checked_new_class_name(" none of  them "), "none of them");
  for (const char* answer : {"none of these", "None of  these ", "NONE\xc2\xa0OF THESE"})
    EXPECT_THROW(checked_new_class_name(answer), UsageError) << answer;
}

TEST(CleanName, OfPairsThatDifferInCapitalsAloneAreHinted) {
  const testing::Logged logged;
  warn_of_same_but_capitals({"Zebra", "horse", "zebra", "\xc3\x84gypten", "\xc3\xa4gypten"}, "classes");
  EXPECT_THAT(logged.text(), HasSubstr("classes differ only in capitals: 'Zebra' and 'zebra'"));
  EXPECT_THAT(logged.text(), HasSubstr("'\xc3\x84gypten' and '\xc3\xa4gypten'"));
}

TEST(CleanName, OfNamesThatDifferOtherwiseNothingIsSaid) {
  const testing::Logged logged;
  warn_of_same_but_capitals({"zebra", "zebras", "zebra"}, "classes");
  EXPECT_EQ(logged.text(), "");
}

}  // namespace
}  // namespace protocom
