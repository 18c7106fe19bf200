// Classes that are described in words over HTTP.
#include "http/words_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ServedWords : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    without_ = path_;
    path_ = clip_.path();
  }
  [[nodiscard]] Reply describe(const std::string& name, const json& body) const {
    return ask("POST", "/v1/classes/" + name + "/examples", body.dump(), kJson);
  }
  [[nodiscard]] json class_of(const std::string& name) const { return ask("GET", "/v1/classes/" + name).json(); }
  /// Returns the best class and its probability.
  [[nodiscard]] json ranking(uint8_t grey) const {
    return ask("POST", "/v1/classify", png(grey), kPng).json().at("answers").at(0).at("ranking");
  }

  ClipRecognizer clip_{folder_.path()};
  fs::path without_;  ///< a recognizer whose knowledge is not texts
};

TEST_F(ServedWords, MakeAClassWithoutAPhoto) {
  serve(clip_.options());
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("takes_words"), true);
  const Reply made = describe("robin", {{"descriptions", {"a small brown bird", "it has a red breast"}}});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.json().at("images"), 0);
  EXPECT_EQ(class_of("robin").at("embedding_source"), "text");
  ASSERT_EQ(describe("emu", {{"descriptions", {"a tall grey bird"}}}).status, 201);
  ASSERT_EQ(describe("twin", {{"descriptions", {"a tall grey bird"}}}).status, 201);
  std::map<std::string, double> probability;
  for (const json& item : ranking(90)) probability[item.at("class")] = item.at("probability");
  ASSERT_EQ(probability.size(), 3U);
  EXPECT_NEAR(probability["emu"], probability["twin"], 1e-6) << "words alone decide";
  EXPECT_GT(std::abs(probability["emu"] - probability["robin"]), 1e-4);
}

TEST_F(ServedWords, FindPhotos) {
  serve(clip_.options());
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("searches_words"), true);
  for (const int grey : {10, 240}) enrol("bird", static_cast<uint8_t>(grey));
  const json wanted = {{"words", "a small brown bird"}};
  const json found = ask("POST", "/v1/similar", wanted.dump(), kJson).json().at("photos");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GT(found[0].at("similarity"), found[1].at("similarity"));
  EXPECT_EQ(ask("POST", "/v1/similar", form_of({{"words", "a tall bird"}}), kForm).status, 200);
  EXPECT_EQ(ask("POST", "/v1/similar", R"({"words": ""})", kJson).status, 400);
}

TEST_F(ServedWords, ThatTheEncoderCutsAreToldInTheAnswer) {
  serve(clip_.options());
  EXPECT_EQ(describe("robin", {{"descriptions", {"a small brown bird"}}}).json().at("warnings"), json::array());
  std::string endless;
  for (int i = 0; i < 300; ++i) endless += "bird ";
  const Reply cut = describe("robin", {{"descriptions", {endless, "a small brown bird"}}});
  ASSERT_EQ(cut.status, 200) << cut.body;
  ASSERT_EQ(cut.json().at("warnings").size(), 1U);
  EXPECT_THAT(cut.json().at("warnings").at(0).get<std::string>(), HasSubstr("1 of 2 texts are longer than"));
  EXPECT_EQ(enrol("emu", 40).json().at("warnings"), json::array());
}

TEST_F(ServedWords, AreOneALineInAFormBesidePhotos) {
  serve(clip_.options());
  const Reply made =
      ask("POST", "/v1/classes/robin/examples",
          form_of({{"image", png(40), "1.png"}, {"descriptions", "a small brown bird\r\n\r\n  it has a red breast\n"}}),
          kForm);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.json().at("images"), 1);
  EXPECT_EQ(class_of("robin").at("embedding_source"), "text");
  ASSERT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes/robin").status, 404);
}

TEST_F(ServedWords, ThatChangeAClassAreAChangeToUndo) {
  serve(clip_.options());
  ASSERT_EQ(enrol("robin", 40).status, 201);
  EXPECT_EQ(class_of("robin").at("embedding_source"), "nothing");
  const Reply changed = describe("robin", {{"descriptions", {"a small brown bird"}}});
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(class_of("robin").at("embedding_source"), "text");
  ASSERT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(class_of("robin").at("embedding_source"), "nothing");
}

TEST_F(ServedWords, AreRefusedInPlainWords) {
  const auto refusal = [&](const json& body) {
    const Reply refused = describe("robin", body);
    EXPECT_EQ(refused.status, 400) << refused.body;
    return refused.body;
  };
  serve();
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("takes_words"), false);
  EXPECT_THAT(refusal({{"descriptions", {"a bird"}}}), HasSubstr("the server has no text encoder"));
  serve(clip_.options());
  EXPECT_THAT(refusal({{"descriptions", "a bird"}}), HasSubstr("list"));
  EXPECT_THAT(refusal({{"descriptions", {7}}}), HasSubstr("not a string"));
  EXPECT_THAT(refusal({{"descriptions", {"  "}}}), HasSubstr("empty"));
  EXPECT_THAT(refusal({{"descriptions", {std::string(2001, 'a')}}}), HasSubstr("2000"));
  EXPECT_THAT(refusal({{"descriptions", std::vector<std::string>(65, "a bird")}}), HasSubstr("at most 64"));
  EXPECT_THAT(refusal({{"descriptions", json::array()}}), HasSubstr("descriptions"));
  path_ = without_;
  serve(clip_.options());
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("takes_words"), false);
  EXPECT_THAT(refusal({{"descriptions", {"a bird"}}}), AllOf(HasSubstr("24 dimensions"), HasSubstr("knowledge 2")));
}

}  // namespace
}  // namespace protocom::testing
