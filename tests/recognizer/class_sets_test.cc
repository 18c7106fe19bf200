#include "recognizer/class_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recognizer/recognizer_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SetsOfClasses, ReachTheConformalQuantile) {
  const std::vector<double> nine = {0.9, 0.2, 0.8, 0.7, 0.95, 0.6, 0.5, 0.4, 0.3};
  EXPECT_EQ(least_probability_for(nine, 0.9), 0.2) << "the first of nine: (9 + 1) .1";
  EXPECT_EQ(least_probability_for(nine, 0.8), 0.3) << "the second";
  EXPECT_EQ(least_probability_for(nine, 0.75), 0.3) << "2.5 is rounded down";
}

TEST(SetsOfClasses, NeedEnoughImages) {
  const std::vector<double> eight = {0.9, 0.2, 0.8, 0.7, 0.95, 0.6, 0.5, 0.4};
  EXPECT_THAT(message_of([&] { least_probability_for(eight, 0.9); }),
              HasSubstr("a coverage of 90 % needs 9 photos for leave-one-out, found 8"));
  EXPECT_THAT(message_of([&] { least_probability_for(eight, 1); }), HasSubstr("between 0 and 1, found 1"));
}

class SetsOfARecognizer : public SmallRecognizer {
 protected:
  Recognizer pets(std::optional<double> coverage) const {
    RecognizerOptions options;
    options.coverage = coverage;
    return Recognizer::open(path_, options);
  }
};

TEST_F(SetsOfARecognizer, StandInItsAnswersWhereTheyAreAskedFor) {
  std::vector<std::string> dark, bright;
  for (int i = 0; i < 6; ++i) {
    dark.push_back(photo(fmt::format("d{}.png", i), static_cast<uint8_t>(10 + 9 * i)));
    bright.push_back(photo(fmt::format("b{}.png", i), static_cast<uint8_t>(250 - 9 * i)));
  }
  pets({}).enrol({request("dark", dark), request("bright", bright)});
  const std::string asked = photo("x.png", 33);
  EXPECT_THAT(pets({}).classify(asked).set, IsEmpty());
  const Answer sure = pets(0.1).classify(asked), all = pets(0.92).classify(asked);
  EXPECT_THAT(sure.set, ElementsAre(sure.ranking[0].name)) << "never empty";
  EXPECT_EQ(all.set.front(), all.ranking[0].name);
  EXPECT_LE(sure.set.size(), all.set.size());
  EXPECT_THAT(message_of([&] { pets(0.99).classify(asked); }), HasSubstr("needs 99 photos"));
}

TEST_F(SetsOfARecognizer, AreOfTheImagesAsTheyAre) {
  pets({}).enrol({request("dark", {photo("1.png", 10), photo("2.png", 30)}),
                  request("bright", {photo("3.png", 240), photo("4.png", 220)})});
  Recognizer own = pets(0.8);
  const std::string asked = photo("5.png", 20);
  const Answer answer = own.classify(asked);
  EXPECT_EQ(answer.set.front(), answer.ranking[0].name);
  own.file().remove_class("bright");
  EXPECT_THAT(message_of([&] { own.classify(asked); }), HasSubstr("found 2: enrol more"));
}

}  // namespace
}  // namespace protocom::testing
