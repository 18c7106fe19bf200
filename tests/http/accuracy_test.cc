#include <gmock/gmock.h>

#include <algorithm>

#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class EstimatedAccuracy : public Served {};

TEST_F(EstimatedAccuracy, NamesTheEnrolledImageThatIsInTheWrongClass) {
  serve();
  for (const int grey : {0, 30, 60}) enrol("dark", static_cast<uint8_t>(grey));
  for (const int grey : {200, 225, 250}) enrol("bright", static_cast<uint8_t>(grey));
  const Reply wrong = enrol("dark", 246);
  ASSERT_EQ(wrong.status, 200);
  const json examples = ask("GET", "/v1/classes/dark").json()["examples"];
  const json found = ask("GET", "/v1/accuracy").json();
  EXPECT_EQ(found["classes"], 2);
  EXPECT_EQ(found["images"], 7);
  EXPECT_EQ(found["moments"], 5) << "beside a grey so far away the three others of its class look alike";
  EXPECT_EQ(found["asked"], 5);
  const json mistake = {
      {"example", examples.back()["example"]}, {"class", "dark"}, {"taken_for", "bright"}, {"confirmed", false}};
  EXPECT_NE(std::find(found["mistakes"].begin(), found["mistakes"].end(), mistake), found["mistakes"].end())
      << found.dump();
  int64_t asked = 0, right = 0;
  for (const json& one : found["by_class"]) {
    asked += one.at("asked").get<int64_t>();
    right += one.at("right").get<int64_t>();
  }
  EXPECT_EQ(asked, found["asked"]);
  EXPECT_EQ(asked - right, found["mistakes"].size());
  EXPECT_NEAR(found["accuracy"].get<double>(), 1 - static_cast<double>(found["mistakes"].size()) / 5, 1e-12);
}

TEST_F(EstimatedAccuracy, KnowsWhichOfItsMistakesAreRightAllTheSameUntilThatIsUndone) {
  serve();
  for (const int grey : {0, 30, 60}) enrol("dark", static_cast<uint8_t>(grey));
  for (const int grey : {200, 225, 250}) enrol("bright", static_cast<uint8_t>(grey));
  enrol("dark", 246);
  const auto mistake = [&] { return ask("GET", "/v1/accuracy").json()["mistakes"].at(0); };
  const json first = mistake();
  const std::string path = "/v1/examples/" + first["example"].dump();
  const auto is_listed_confirmed = [&] {
    const json listed = ask("GET", "/v1/classes/" + first["class"].get<std::string>()).json();
    for (const json& one : listed["examples"])
      if (one["example"] == first["example"]) return one["confirmed"].get<bool>();
    return false;
  };
  const Reply confirmed = ask("PATCH", path, R"({"confirmed": true})", kJson);
  ASSERT_EQ(confirmed.status, 200) << confirmed.body;
  EXPECT_EQ(confirmed.json()["change"]["what"], "confirm 1 image");
  EXPECT_TRUE(is_listed_confirmed());
  EXPECT_EQ(mistake()["confirmed"], true);
  EXPECT_EQ(ask("PATCH", path, R"({"confirmed": true})", kJson).json()["change"], json()) << "it is already";
  EXPECT_EQ(ask("PATCH", path, R"({"confirmed": false})", kJson).status, 400);
  EXPECT_EQ(ask("PATCH", path, R"({"confirmed": true, "class": "bright"})", kJson).status, 400);
  EXPECT_EQ(ask("PATCH", "/v1/examples/999", R"({"confirmed": true})", kJson).status, 404);
  ask("POST", "/v1/undo");
  EXPECT_FALSE(is_listed_confirmed());
  EXPECT_EQ(mistake()["confirmed"], false);
}

TEST_F(EstimatedAccuracy, IsOfTheClassesAsTheyAreNow) {
  serve();
  for (const int grey : {0, 5}) enrol("dark", static_cast<uint8_t>(grey));
  enrol("bright", 250);
  EXPECT_EQ(ask("GET", "/v1/accuracy").json()["images"], 3);
  EXPECT_EQ(ask("GET", "/v1/accuracy").json()["images"], 3);
  enrol("bright", 240);
  EXPECT_EQ(ask("GET", "/v1/accuracy").json()["images"], 4);
}

TEST_F(EstimatedAccuracy, SetsOfClassesAreThoseOfTheLibrary) {
  serve();
  for (int i = 0; i < 5; ++i) {
    enrol("dark", static_cast<uint8_t>(10 + 25 * i));
    enrol("bright", static_cast<uint8_t>(250 - 25 * i));
  }
  const auto set = [&](const std::string& query, uint8_t grey) {
    return ask("POST", "/v1/classify?top=1" + query, png(grey), kPng).json()["answers"][0].value("set", json());
  };
  EXPECT_TRUE(set("", 130).is_null());
  for (const double coverage : {0.2, 0.6, 0.8}) {
    RecognizerOptions options;
    options.coverage = coverage;
    Recognizer own = Recognizer::open(path_, options);
    for (const uint8_t grey : {20, 120, 130, 240}) {
      const Image image{kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, grey)};
      const json expected = own.classify_features(own.features_of({image})).front().set;
      EXPECT_EQ(set("&coverage=" + std::to_string(coverage), grey), expected) << coverage << " of " << int{grey};
      EXPECT_EQ(set("&series=one&coverage=" + std::to_string(coverage), grey), expected);
    }
  }
  for (const char* wrong : {"0", "1", "nan", "much", ""}) {
    const Reply refused = ask("POST", std::string("/v1/classify?coverage=") + wrong, png(20), kPng);
    EXPECT_EQ(refused.status, 400) << wrong;
    EXPECT_THAT(refused.body, HasSubstr("'coverage': expected a number between 0 and 1")) << wrong;
  }
  const Reply few = ask("POST", "/v1/classify?coverage=0.9", png(20), kPng);
  EXPECT_EQ(few.status, 409);
  EXPECT_THAT(few.body, HasSubstr("needs 9 photos for leave-one-out, found 8")) << "two pairs are of one moment";
  for (int i = 0; i < 6; ++i) enrol("grey", static_cast<uint8_t>(110 + i * i));
  EXPECT_EQ(ask("POST", "/v1/classify?coverage=0.9", png(20), kPng).status, 200) << "once there are more";
}

TEST_F(EstimatedAccuracy, GroupsOfClassesAreThoseOfTheLibrary) {
  serve();
  for (int i = 0; i < 3; ++i) {
    enrol("greys;dark", static_cast<uint8_t>(10 + 25 * i));
    enrol("greys;bright", static_cast<uint8_t>(250 - 25 * i));
  }
  const auto group = [&](const std::string& query, uint8_t grey) {
    return ask("POST", "/v1/classify?top=1" + query, png(grey), kPng).json()["answers"][0].value("group", json());
  };
  EXPECT_TRUE(group("", 130).is_null());
  int64_t rolled = 0;
  for (const double roll_up : {0.5, 0.8, 0.999}) {
    RecognizerOptions options;
    options.roll_up = roll_up;
    Recognizer own = Recognizer::open(path_, options);
    for (const uint8_t grey : {20, 120, 130, 240}) {
      const Image image{kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, grey)};
      const auto expected = own.classify_features(own.features_of({image})).front().group;
      const json found = group("&roll_up=" + std::to_string(roll_up), grey);
      ASSERT_EQ(found.is_null(), !expected) << roll_up << " of " << int{grey};
      if (!expected) continue;
      ++rolled;
      EXPECT_EQ(found, json({{"name", expected->name}, {"probability", expected->probability}}));
      EXPECT_EQ(found["name"], "greys");
      EXPECT_EQ(group("&series=one&roll_up=" + std::to_string(roll_up), grey), found);
    }
  }
  EXPECT_GT(rolled, 0);
  for (const char* wrong : {"0", "1", "nan", ""}) {
    const Reply refused = ask("POST", std::string("/v1/classify?roll_up=") + wrong, png(20), kPng);
    EXPECT_EQ(refused.status, 400) << wrong;
    EXPECT_THAT(refused.body, HasSubstr("'roll_up': expected a number between 0 and 1")) << wrong;
  }
}

TEST_F(EstimatedAccuracy, IsNothingWithoutImagesToLeaveOut) {
  serve();
  EXPECT_EQ(ask("GET", "/v1/accuracy").status, 409) << "no class";
  enrol("dark", 0);
  EXPECT_TRUE(ask("GET", "/v1/accuracy").json()["accuracy"].is_null());
}

TEST_F(EstimatedAccuracy, ChangesAreListedLastFirst) {
  serve();
  EXPECT_EQ(ask("GET", "/v1/changes").json()["changes"], json::array());
  const json first = enrol("dark", 0).json()["change"], second = enrol("bright", 250).json()["change"];
  EXPECT_EQ(ask("GET", "/v1/changes").json()["changes"], json({second, first}));
}

TEST_F(EstimatedAccuracy, FeaturesThatComeWithAnswersAnswerTheSameWithoutTheImages) {
  serve();
  enrol("dark", 0);
  enrol("bright", 250);
  const std::vector<FormPart> form = {{"image", png(40), "a.png"}, {"image", "x", "b.png"}, {"with_features", "true"}};
  const json answers = ask("POST", "/v1/classify", form_of(form), kForm).json()["answers"];
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_FALSE(answers[1].contains("feature")) << "it could not be read";
  const json again = {{"features", {answers[0]["feature"]}}};
  const json same = ask("POST", "/v1/classify", again.dump(), kJson).json()["answers"][0];
  EXPECT_EQ(same["ranking"], answers[0]["ranking"]);
  const std::vector<FormPart> plain = {{"image", png(40), "a.png"}};
  EXPECT_FALSE(ask("POST", "/v1/classify", form_of(plain), kForm).json()["answers"][0].contains("feature"));
  const std::vector<FormPart> odd = {{"image", png(40), "a.png"}, {"with_features", "perhaps"}};
  EXPECT_EQ(ask("POST", "/v1/classify", form_of(odd), kForm).status, 400);
}

}  // namespace
}  // namespace protocom::testing
