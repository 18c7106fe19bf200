// Which part of an image decides its answer, over HTTP.
#include "http/server_support.h"
#include "recognizer/occlusion.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Explained : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
  }
  /// Returns a grey image, twice as wide as high, with a spot.
  [[nodiscard]] static std::string spotted() {
    Image image{kSide, 2 * kSide, std::vector<uint8_t>(2 * kSide * kSide * 3, 60)};
    for (size_t i = 0; i < 60; ++i) image.rgb[i + 60] = 250;
    return encode_png(image);
  }
};

TEST_F(Explained, SaysWhatTheLibrarySays) {
  enrol("dark", 10);
  enrol("bright", 240);
  const Reply reply = ask("POST", "/v1/explain", spotted(), kPng);
  ASSERT_EQ(reply.status, 200) << reply.body;
  write_file(folder_ / "spotted.png", spotted());
  Recognizer pets = Recognizer::open(path_);
  const Occlusion own = find_occlusion(pets, folder_ / "spotted.png");
  const json found = reply.json();
  EXPECT_EQ(found.at("class"), own.class_name);
  EXPECT_NEAR(found.at("probability").get<double>(), own.probability, 1e-6);
  ASSERT_EQ(found.at("effects").size(), 7U);
  for (size_t row = 0; row < 7; ++row) {
    for (size_t column = 0; column < 7; ++column)
      EXPECT_NEAR(found["effects"][row][column].get<double>(), own.effects[row][column], 1e-4);
  }
  const std::vector<double> area = found.at("area");
  ASSERT_EQ(area.size(), 4U);
  EXPECT_NEAR(area[0], 0.25, 1e-9) << "the middle half of its width";
  EXPECT_NEAR(area[1], 0, 1e-9);
  EXPECT_NEAR(area[2], 0.5, 1e-9);
  EXPECT_NEAR(area[3], 1, 1e-9);
  const json other = ask("POST", "/v1/explain?class=" + (own.class_name == "dark" ? std::string("bright") : "dark"),
                         form_of({{"image", spotted(), "s.png"}}), kForm)
                         .json();
  EXPECT_NE(other.at("class"), found.at("class"));
  EXPECT_EQ(other.at("image"), "s.png");
  EXPECT_NEAR(other["effects"][3][3].get<double>(), -found["effects"][3][3].get<double>(), 1e-3);
}

TEST_F(Explained, NeedsOneImageAndAClassThatIsThere) {
  EXPECT_EQ(ask("POST", "/v1/explain", spotted(), kPng).status, 409) << "no class yet";
  enrol("dark", 10);
  enrol("bright", 240);
  EXPECT_EQ(ask("POST", "/v1/explain?class=cow", spotted(), kPng).status, 404);
  EXPECT_EQ(ask("POST", "/v1/explain", "no image", kPng).status, 400);
  const Reply two = ask("POST", "/v1/explain", form_of({{"image", png(1), "a"}, {"image", png(2), "b"}}), kForm);
  EXPECT_EQ(two.status, 400);
  EXPECT_THAT(two.body, HasSubstr("give one image, found 2"));
  EXPECT_EQ(ask("POST", "/v1/explain", form_of({{"class", "dark"}}), kForm).status, 400);
  EXPECT_EQ(ask("GET", "/v1/explain").status, 405);
}

}  // namespace
}  // namespace protocom::testing
