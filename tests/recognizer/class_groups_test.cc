#include "recognizer/class_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClassGroups, AreTheLevelsOfTitles) {
  for (const char* title :
       {"animals/birds/robin", "animals|birds|robin", "animals; birds;robin", "animals > birds > robin"})
    EXPECT_THAT(class_levels(title), ElementsAre("animals", "birds", "robin")) << title;
  EXPECT_THAT(class_levels("f1856211-cfb7-4a5b-9158-c0f72fd09ee6;mammalia;;felidae"),
              ElementsAre("mammalia", "felidae"))
      << "as SpeciesNet writes them";
  EXPECT_THAT(class_levels("robin"), ElementsAre("robin"));
  EXPECT_THAT(class_levels(" / "), IsEmpty());
}

std::vector<std::vector<std::string>> levels() {
  return {{"animals", "birds", "robin"}, {"animals", "birds", "wren"}, {"animals", "fox"}, {"empty"}};
}

/// "animals/birds .9" of the group, rounded.
std::string group_of(double least, int64_t best = 0) {
  const Eigen::Vector4d probabilities(0.5, 0.3, 0.15, 0.05);
  const auto found = probable_group(levels(), probabilities, best, least);
  return found ? found->name + " " + std::to_string(found->probability).substr(0, 4) : "none";
}

TEST(ClassGroups, AreTheNarrowestThatIsAsProbable) {
  EXPECT_EQ(group_of(0.4), "animals/birds/robin 0.50") << "the class itself";
  EXPECT_EQ(group_of(0.6), "animals/birds 0.80");
  EXPECT_EQ(group_of(0.9), "animals 0.95");
  EXPECT_EQ(group_of(0.99), "none");
  EXPECT_EQ(group_of(0.9, 3), "none") << "a class without levels has no group but itself";
  EXPECT_EQ(group_of(0.05, 3), "empty 0.05");
}

}  // namespace
}  // namespace protocom::testing
