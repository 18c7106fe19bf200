// Accuracy of the recognizer on labelled images, over HTTP.
#include <algorithm>

#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class LabelledPhotos : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    for (const int grey : {0, 20}) enrol("dark", static_cast<uint8_t>(grey));
    for (const int grey : {230, 250}) enrol("bright", static_cast<uint8_t>(grey));
  }
  [[nodiscard]] Reply test(const std::vector<uint8_t>& greys, const std::string& labels) const {
    std::vector<FormPart> form;
    for (const uint8_t grey : greys) form.push_back({"image", png(grey), std::to_string(grey) + ".png"});
    form.push_back({"labels", labels});
    return ask("POST", "/v1/test", form_of(form), kForm);
  }
  static std::string error_of(const Reply& reply) { return reply.json().at("error").at("message"); }
};

TEST_F(LabelledPhotos, CountRightOnesConfusedOnesAndTheWorst) {
  const json found = test({10, 30, 240, 225}, R"(["dark", "dark", "bright", "dark"])").json();
  EXPECT_EQ(found.at("images"), 4);
  EXPECT_EQ(found.at("right"), 3);
  EXPECT_DOUBLE_EQ(found.at("accuracy"), 0.75);
  EXPECT_NEAR(found.at("low").get<double>(), 0.3006, 1e-3) << "Wilson's interval of 3 of 4";
  EXPECT_NEAR(found.at("high").get<double>(), 0.9544, 1e-3);
  const json confused = {{"class", "dark"}, {"answer", "bright"}, {"images", 1}};
  EXPECT_NE(std::find(found.at("confusion").begin(), found.at("confusion").end(), confused),
            found.at("confusion").end());
  EXPECT_EQ(found.at("worst"), json({3}));
  EXPECT_EQ(found.at("tested").at(3).at("image"), "225.png");
  EXPECT_FALSE(found.contains("recognizer")) << "where it lies is nobody's business";
}

TEST_F(LabelledPhotos, LeaveOutEnrolledOnesAndCountThoseOfOtherClasses) {
  const json found = test({0, 10, 240, 120}, R"(["dark", "dark", "bright", "grey"])").json();
  EXPECT_EQ(found.at("already_enrolled"), 1);
  EXPECT_EQ(found.at("images"), 2);
  EXPECT_EQ(found.at("unknown"), 1);
  EXPECT_EQ(found.at("accepted"), 1) << "without a calibration it takes all";
}

TEST_F(LabelledPhotos, ComeAsFeaturesToo) {
  const std::vector<FormPart> form = {
      {"image", png(10), "a.png"}, {"image", png(240), "b.png"}, {"with_features", "true"}};
  const json answers = ask("POST", "/v1/classify", form_of(form), kForm).json().at("answers");
  const json body = {{"features", {answers[0]["feature"], answers[1]["feature"]}},
                     {"labels", {"dark", "dark"}},
                     {"names", {"first", "second"}}};
  const Reply reply = ask("POST", "/v1/test", body.dump(), kJson);
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json().at("right"), 1);
  EXPECT_EQ(reply.json().at("tested").at(1).at("image"), "second");
  EXPECT_EQ(reply.json().at("tested").at(1).at("answer"), "bright");
}

TEST_F(LabelledPhotos, ThatCannotBeReadAreNamedAndTheRestIsTested) {
  const std::vector<FormPart> form = {
      {"image", "x", "broken.png"}, {"image", png(240), "b.png"}, {"labels", R"(["dark", "bright"])"}};
  const json found = ask("POST", "/v1/test", form_of(form), kForm).json();
  EXPECT_EQ(found.at("unreadable").at(0).at("image"), "broken.png");
  EXPECT_EQ(found.at("tested").at(0).at("class"), "bright") << "labels stay with their images";
}

TEST_F(LabelledPhotos, ChangeNothingAndAskForNoKeyThatWrites) {
  const json before = ask("GET", "/v1/changes").json();
  ASSERT_EQ(test({10}, R"(["dark"])").status, 200);
  EXPECT_EQ(ask("GET", "/v1/changes").json(), before);
}

TEST_F(LabelledPhotos, AreRefusedWhereLabelsDoNotFit) {
  for (const char* labels :
       {"dark", "{}", "[1]", R"(["dark", "dark"])", R"([""])", "[]", R"([" "])", R"(["\u00a0"])", R"(["\u202eab"])"})
    EXPECT_EQ(test({10}, labels).status, 400) << labels;
  EXPECT_THAT(error_of(test({10}, R"(["dark", "dark"])")),
              HasSubstr("'labels': expected one per image, found 2 for 1 images"));
  const std::vector<FormPart> unlabelled = {{"image", png(10), "a.png"}};
  EXPECT_THAT(error_of(ask("POST", "/v1/test", form_of(unlabelled), kForm)), HasSubstr("give 'labels'"));
  EXPECT_EQ(ask("POST", "/v1/test", R"({"labels": []})", kJson).status, 400) << "nothing to test";
  EXPECT_EQ(ask("POST", "/v1/test", png(10), kPng).status, 415) << "an image has no label";
}

// A list of empty lists takes thirty times its size once parsed.
TEST_F(LabelledPhotos, AreRefusedWithFarMoreLabelsThanThereCanBe) {
  std::string lists = "[";
  for (int i = 0; i < 100'000; ++i) lists += "[],";
  const Reply reply = test({10}, lists + "[]]");
  EXPECT_EQ(reply.status, 413);
  EXPECT_THAT(error_of(reply), HasSubstr("'labels' has at most 128 KiB"));
}

TEST_F(LabelledPhotos, AreRefusedWhereNothingIsLeftToTest) {
  EXPECT_EQ(test({0, 20}, R"(["dark", "dark"])").status, 409) << "all are enrolled";
  EXPECT_EQ(test({100}, R"(["grey"])").status, 409) << "no image of its classes";
  EXPECT_THAT(test({100}, R"(["grey"])").body, Not(HasSubstr(folder_.path().string())));
}

}  // namespace
}  // namespace protocom::testing
