#include "images/preprocessing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
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
  EXPECT_EQ(parse_preprocessing("plain").image_size, 224) << "as the others";
  const Preprocessing plain = parse_preprocessing("plain:size=64");
  EXPECT_EQ(plain.shorter_side(), 64);
  EXPECT_THAT(plain.mean, IsEmpty());
}

TEST(Preprocessing, WithoutNormalisationIsMeanZeroAndDeviationOne) {
  EXPECT_TRUE((Preprocessing{64} == Preprocessing{64, 64, {0, 0, 0}, {1, 1, 1}}));
  EXPECT_FALSE((Preprocessing{64} == Preprocessing{64, 64, {0, 0, 0}, {1, 1, 2}}));
  EXPECT_FALSE((Preprocessing{64} == Preprocessing{64, 72}));
}

// A mean below 0 and a deviation above 1 of values from 0 to 1 have been published, and nobody can tell what they refer
// to (sun11999/RDIAN issue 11).
TEST(Preprocessing, RefusesWhatCannotBe) {
  EXPECT_THAT(usage_message_of([] { parse_preprocessing("imagnet"); }), HasSubstr("did you mean 'imagenet'?"));
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

TEST(Preprocessing, OfStatisticsOf0To255IsRefusedWithWhatTheyAreOf0To1) {
  const nlohmann::json bytes = {
      {"image_size", 224}, {"mean", {123.675, 116.28, 103.53}}, {"std", {58.395, 57.12, 57.375}}};
  EXPECT_THAT(message_of([&] { preprocessing_from(bytes, "a.pt"); }),
              AllOf(HasSubstr("mean 123.675 and standard deviation 58.395"),
                    HasSubstr("divide both by 255 (mean 0.485, std 0.229)")));
  const auto with = [](double mean, double std) {
    const std::vector<double> means(3, mean), stds(3, std);
    return message_of([&] { preprocessing_from({{"image_size", 8}, {"mean", means}, {"std", stds}}, "a.pt"); });
  };
  EXPECT_THAT(with(1.2, 0.2), HasSubstr("mean 1.2"));
  EXPECT_THAT(with(-0.1, 0.2), HasSubstr("mean -0.1"));
  EXPECT_THAT(with(0.5, 58), HasSubstr("standard deviation 58"));
  EXPECT_EQ(with(0.48, 1 / 255.0), "(no Error)") << "for an encoder that takes 0 to 255";
}

// Users ask whether an encoder takes BGR if nothing says so (faustomorales/keras-facenet issue 1).
TEST(Preprocessing, ThatSomebodyStatesHasNoKeysThatNobodyReads) {
  const auto with = [](const char* key) {
    return message_of([&] { stated_preprocessing({{"image_size", 8}, {key, 8}}, "a.pt"); });
  };
  EXPECT_EQ(with("resize"), "(no Error)");
  EXPECT_THAT(with("bgr"), HasSubstr("begin with images.flip(1)"));
  EXPECT_THAT(with("resise"), AllOf(HasSubstr("unknown 'resise'"), HasSubstr("did you mean 'resize'?")));
}

TEST(Preprocessing, ComesBackFromJson) {
  const Preprocessing clip = parse_preprocessing("clip");
  EXPECT_TRUE(preprocessing_from(to_json(clip), "here") == clip);
  EXPECT_EQ(describe(parse_preprocessing("plain:size=64")), "shorter side 64, crop 64, RGB in [0, 1]");
}

}  // namespace
}  // namespace protocom::testing
