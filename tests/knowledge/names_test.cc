#include "knowledge/names.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

TEST(Names, TurnIntoLemmas) {
  EXPECT_EQ(lemma_of_name("001.Black_footed_Albatross"), "Black_footed_Albatross");
  EXPECT_EQ(lemma_of_name("bill_shape::curved_(up_or_down)"), "bill_shape_curved_up_or_down");
  EXPECT_EQ(lemma_of_name("goldenRetriever"), "golden_Retriever");
  EXPECT_EQ(lemma_of_name("017_cat"), "cat");
  EXPECT_EQ(lemma_of_name("golden retriever"), "golden_retriever");
  EXPECT_EQ(lemma_of_name("judge's robe"), "judge_robe");
  EXPECT_EQ(lemma_of_name("red-legged kittiwake"), "red-legged_kittiwake");
}

TEST(Names, KeepWhatIsNoNumberingAndNoWordBoundary) {
  EXPECT_EQ(lemma_of_name("3-toed sloth"), "3-toed_sloth");
  EXPECT_EQ(lemma_of_name("4_wheel_drive"), "4_wheel_drive");
  EXPECT_EQ(lemma_of_name("iPod"), "iPod");
  EXPECT_EQ(lemma_of_name("BMW"), "BMW");
  EXPECT_EQ(lemma_of_name("7"), "7");
  EXPECT_EQ(lemma_of_name("caf\xc3\xa9 noir"), "caf\xc3\xa9_noir");
}

TEST(Names, WithoutALetterGiveNothing) {
  EXPECT_EQ(lemma_of_name(""), "");
  EXPECT_EQ(lemma_of_name("(::)"), "");
}

TEST(Names, ReadWellAsTitles) { EXPECT_EQ(title_of_name("036.Northern_Flicker"), "Northern Flicker"); }

}  // namespace
}  // namespace protocom
