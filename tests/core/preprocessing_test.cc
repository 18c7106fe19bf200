#include "protocom/core/preprocessing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocom/core/error.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Preprocessing, PresetsAreWhatTheirModelsWereTrainedWith) {
  const Preprocessing imagenet = parse_preprocessing("imagenet");
  EXPECT_EQ(imagenet.image_size, 224);
  EXPECT_EQ(imagenet.shorter_side(), 256);
  EXPECT_THAT(imagenet.mean, ElementsAre(0.485, 0.456, 0.406));
  EXPECT_THAT(imagenet.std, ElementsAre(0.229, 0.224, 0.225));
  EXPECT_EQ(parse_preprocessing("clip").shorter_side(), 224);
  EXPECT_THAT(parse_preprocessing("half").std, ElementsAre(0.5, 0.5, 0.5));
}

TEST(Preprocessing, ASizeTakesTheBorderOfItsPresetAlong) {
  const Preprocessing half = parse_preprocessing("imagenet:size=112");
  EXPECT_EQ(half.image_size, 112);
  EXPECT_EQ(half.shorter_side(), 128);  // 256 / 224 of it
  EXPECT_EQ(parse_preprocessing("imagenet:size=224:resize=224").shorter_side(), 224);
  const Preprocessing plain = parse_preprocessing("plain:size=64");
  EXPECT_EQ(plain.shorter_side(), 64);
  EXPECT_THAT(plain.mean, IsEmpty());
}

TEST(Preprocessing, WithoutNormalisationIsMeanZeroAndDeviationOne) {
  EXPECT_TRUE((Preprocessing{64} == Preprocessing{64, 64, {0, 0, 0}, {1, 1, 1}}));
  EXPECT_FALSE((Preprocessing{64} == Preprocessing{64, 64, {0, 0, 0}, {1, 1, 2}}));
  EXPECT_FALSE((Preprocessing{64} == Preprocessing{64, 72}));
}

TEST(Preprocessing, RefusesWhatCannotBe) {
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("imagnet"); }), HasSubstr("did you mean 'imagenet'?"));
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("plain"); }), HasSubstr("says no size"));
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("clip:size=0"); }), HasSubstr("1 to 4096"));
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("clip:crop=3"); }), HasSubstr("size=PIXELS"));
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("clip:size=224:resize=100"); }),
              HasSubstr("shorter side of 100 pixels for a crop of 224"));
  EXPECT_THAT(message_of([] {
                preprocessing_from({{"image_size", 8}, {"mean", {0.5}}, {"std", {0.5}}}, "a.pt");
              }),
              HasSubstr("a.pt: the preprocessing has 1 means"));
  EXPECT_THAT(message_of([] { preprocessing_from({{"resize", 8}}, "a.pt"); }), HasSubstr("damaged"));
}

TEST(Preprocessing, ComesBackFromJson) {
  const Preprocessing clip = parse_preprocessing("clip");
  EXPECT_TRUE(preprocessing_from(to_json(clip), "here") == clip);
  EXPECT_EQ(describe(parse_preprocessing("plain:size=64")), "shorter side 64, crop 64, RGB in [0, 1]");
}

}  // namespace
}  // namespace protocom::testing
