// Parameters after "?" of a request, and what enrolling reports of photos that another class has.
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Query : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    for (int i = 0; i < 6; ++i) enrol("class" + std::to_string(i), static_cast<uint8_t>(40 * i));
  }
  [[nodiscard]] json answer(const std::string& query, const std::string& body, const Headers& headers) const {
    return ask("POST", "/v1/classify" + query, body, headers).json().at("answers").at(0);
  }
};

TEST_F(Query, SaysHowLongAnAnswerIs) {
  const json usual = answer("", png(70), kPng), longer = answer("?top=6&nearest=5", png(70), kPng);
  EXPECT_EQ(usual.at("ranking").size(), 5U);
  EXPECT_EQ(usual.at("nearest").size(), 3U);
  EXPECT_EQ(longer.at("ranking").size(), 6U);
  EXPECT_EQ(longer.at("nearest").size(), 5U);
  EXPECT_EQ(longer.at("ranking").at(0), usual.at("ranking").at(0));
  const json shorter = answer("?nearest=0&top=2", png(70), kPng);
  EXPECT_EQ(shorter.at("ranking").size(), 2U);
  EXPECT_EQ(shorter.at("nearest").size(), 0U);
}

TEST_F(Query, HoldsForFeaturesAndJson) {
  const std::vector<FormPart> form = {{"image", png(70), "a.png"}, {"with_features", "true"}};
  const json body = {{"features", {answer("", form_of(form), kForm).at("feature")}}};
  EXPECT_EQ(answer("?top=1", body.dump(), kJson).at("ranking").size(), 1U);
}

TEST_F(Query, IsRefusedWhereItIsNotKnownOrOutOfBounds) {
  for (const char* query : {"?top=0", "?top=21", "?top=-1", "?top=three", "?top=", "?top", "?", "?top=1&top=2", "?=1",
                            "?top=%zz", "?nearest=21", "?limit=3"})
    EXPECT_EQ(ask("POST", std::string("/v1/classify") + query, png(70), kPng).status, 400) << query;
  EXPECT_THAT(ask("POST", "/v1/classify?limit=3", png(70), kPng).body, HasSubstr("expected top or nearest or series"));
  EXPECT_THAT(ask("POST", "/v1/classify?top=99", png(70), kPng).body, HasSubstr("from 1 to 20, found '99'"));
  EXPECT_EQ(ask("GET", "/v1/classes?top=3").status, 400) << "this path has none";
  EXPECT_EQ(ask("GET", "/nowhere?top=3").status, 404);
}

TEST_F(Query, AsksForOneAnswerAboutASeries) {
  const std::vector<FormPart> form = {
      {"image", png(70), "a.png"}, {"image", png(90), "b.png"}, {"with_features", "true"}};
  const json apart = ask("POST", "/v1/classify", form_of(form), kForm).json().at("answers");
  std::vector<double> mean = apart.at(0).at("feature");
  for (size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + apart.at(1).at("feature").at(i).get<double>()) / 2;
  const json of_mean = answer("", json{{"features", {mean}}}.dump(), kJson);
  const std::vector<FormPart> images(form.begin(), form.begin() + 2);
  const json series = ask("POST", "/v1/classify?series=one&top=2", form_of(images), kForm).json().at("answers");
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series.at(0).at("ranking").size(), 2U);
  EXPECT_EQ(series.at(0).at("ranking").at(0).at("class"), of_mean.at("ranking").at(0).at("class"));
  EXPECT_NEAR(series.at(0).at("familiarity"), of_mean.at("familiarity"), 1e-4);
  const json features = {{"features", {apart.at(0).at("feature"), apart.at(1).at("feature")}}};
  EXPECT_NEAR(answer("?series=one", features.dump(), kJson).at("familiarity"), of_mean.at("familiarity"), 1e-4);
  EXPECT_THAT(ask("POST", "/v1/classify?series=day", form_of(images), kForm).body, HasSubstr("expected 'one'"));
  EXPECT_EQ(
      ask("POST", "/v1/classify?series=one", form_of({{"image", png(70), "a.png"}, {"image", "GIF", "b.gif"}}), kForm)
          .status,
      400);
}

TEST_F(Query, OfEnrollingSaysWhichOtherClassHasAPhoto) {
  const Reply alone = enrol("class6", 250);
  EXPECT_EQ(alone.json().at("warnings"), json::array());
  EXPECT_EQ(enrol("class6", 40).json().at("warnings"), json({"1 image of class6 is in 'class1' too"}));
}

}  // namespace
}  // namespace protocom::testing
