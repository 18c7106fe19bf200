#include "recognizer/occlusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recognizer/recognizer_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

TEST(CoveredInTurn, CoversEachPatchOnceByTheMeanColour) {
  Image image{14, 14, std::vector<uint8_t>(14 * 14 * 3, 0)};
  for (size_t i = 0; i < image.rgb.size() / 2; ++i) image.rgb[i] = 200;  // the upper half
  const std::vector<Image> images = covered_in_turn(image);
  ASSERT_EQ(images.size(), 50U);
  EXPECT_EQ(images[0].rgb, image.rgb);
  for (const int64_t patch : {0, 24, 48}) {
    const Image& one = images[static_cast<size_t>(1 + patch)];
    for (int64_t y = 0; y < 14; ++y) {
      for (int64_t x = 0; x < 14; ++x) {
        const auto at = static_cast<size_t>(3 * (y * 14 + x));
        const bool inside = y / 2 == patch / 7 && x / 2 == patch % 7;
        ASSERT_EQ(one.rgb[at], inside ? 100 : image.rgb[at]) << patch << ": " << x << ", " << y;
      }
    }
  }
}

class Occluded : public SmallRecognizer {
 protected:
  /// Writes a grey photo with a bright spot in one corner.
  std::string spotted(const std::string& name, uint8_t spot) const {
    Image image{kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, 60)};
    for (int64_t y = 0; y < 2; ++y) {
      for (int64_t x = 0; x < 2; ++x) image.rgb[static_cast<size_t>(3 * y * kSide + x)] = spot;
    }
    write_file(folder_ / name, encode_png(image));
    return (folder_ / name).string();
  }
};

TEST_F(Occluded, LooksWhereTheClassesDiffer) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("plain", {photo("a.png", 60), photo("b.png", 61)}),
              request("spotted", {spotted("c.png", 250), spotted("d.png", 240)})});
  const Occlusion found = find_occlusion(pets, spotted("e.png", 245));
  EXPECT_EQ(found.class_name, "spotted");
  EXPECT_NEAR(found.probability,
              pets.probabilities(
                  pets.features_of({read_square_image(folder_ / "e.png", pets.file().settings().preprocessing)}))(0, 1),
              1e-6);
  ASSERT_EQ(found.effects.size(), 7U);
  for (size_t row = 0; row < 7; ++row) {
    ASSERT_EQ(found.effects[row].size(), 7U);
    for (size_t column = 0; column < 7; ++column) EXPECT_LE(found.effects[row][column], found.effects[0][0]);
  }
  EXPECT_GT(found.effects[0][0], 0);
  const Occlusion other = find_occlusion(pets, (folder_ / "e.png").string(), "plain");
  EXPECT_NEAR(other.effects[0][0], -found.effects[0][0], 1e-6) << "of two classes one loses what the other gains";
  EXPECT_EQ(occlusion_text(found).substr(0, std::string("██").size()), "██");
  EXPECT_EQ(occlusion_json(found).at("effects").size(), 7U);
}

TEST_F(Occluded, NeedsAKnownClassAnImageAndAMethodOfSingleImages) {
  Recognizer pets = Recognizer::open(path_);
  const std::string image = photo("a.png", 60);
  EXPECT_THROW(find_occlusion(pets, image), Error) << "no class is enrolled";
  pets.enrol({request("dark", {image}), request("bright", {photo("b.png", 200)})});
  EXPECT_THAT(message_of([&] { find_occlusion(pets, image, "cow"); }), HasSubstr("has no class 'cow'"));
  EXPECT_THROW(find_occlusion(pets, folder_ / "none.png"), Error);
  RecognizerOptions joint;
  joint.method = "gauss-fusion";
  Recognizer together = Recognizer::open(path_, joint);
  EXPECT_THAT(message_of([&] { find_occlusion(together, image); }), HasSubstr("classifies images jointly"));
}

}  // namespace
}  // namespace protocom::testing
