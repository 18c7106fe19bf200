// Unlabelled photos, over HTTP.
#include "http/unsorted_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ServedUnsorted : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    fitted_ = path_;
    path_ = make_own_photos(folder_.path(), parts());
    serve();
  }
  [[nodiscard]] Reply add(const std::vector<uint8_t>& greys) const {
    std::vector<FormPart> form;
    for (const uint8_t grey : greys) form.push_back({"image", png(grey), std::to_string(grey) + ".png"});
    return ask("POST", "/v1/unlabelled", form_of(form), kForm);
  }
  [[nodiscard]] json listed() const { return ask("GET", "/v1/unlabelled").json(); }
  [[nodiscard]] json familiarity() const {
    return ask("POST", "/v1/classify", png(90), kPng).json().at("answers").at(0).at("familiarity");
  }

  fs::path fitted_;  ///< a recognizer whose method does not adapt
};

TEST_F(ServedUnsorted, CountsPhotosOnceAndAnswersByThem) {
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("takes_unlabelled"), true);
  for (const int grey : {10, 30, 70}) enrol("dark", static_cast<uint8_t>(grey));
  for (const int grey : {180, 200, 230}) enrol("bright", static_cast<uint8_t>(grey));
  const json alone = familiarity();
  const Reply first = add({20, 45, 70, 95, 120, 195});
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(first.json().at("added"), 6);
  EXPECT_EQ(first.json().at("change").at("what"), "add 6 unlabelled images");
  const json again = add({45, 220}).json();
  EXPECT_EQ(again.at("added"), 1);
  EXPECT_EQ(again.at("held"), 1);
  EXPECT_EQ(again.at("images"), 7);
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("unlabelled"), 7);
  EXPECT_NE(familiarity(), alone);
  const json estimate = ask("GET", "/v1/accuracy").json();
  EXPECT_TRUE(estimate.at("without_unlabelled").is_number());
  EXPECT_LE(estimate.at("low"), estimate.at("expected"));
  ASSERT_EQ(ask("DELETE", "/v1/unlabelled").json().at("removed"), 7);
  EXPECT_EQ(familiarity(), alone);
  ASSERT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(listed().at("images"), 7);
}

TEST_F(ServedUnsorted, ListsRemovesAndShowsThem) {
  ASSERT_EQ(add({20, 45}).status, 200);
  const json photos = listed().at("photos");
  ASSERT_EQ(photos.size(), 2U);
  EXPECT_EQ(photos[0].at("source"), "20.png");
  const std::string first = "/v1/unlabelled/" + photos[0].at("photo").dump();
  const Reply picture = ask("GET", first + "/thumbnail");
  EXPECT_EQ(picture.status, 200);
  EXPECT_EQ(picture.body.substr(0, 2), "\xff\xd8");
  EXPECT_EQ(ask("DELETE", first).json().at("images"), 1);
  EXPECT_EQ(ask("DELETE", first).status, 404);
  EXPECT_EQ(ask("GET", first + "/thumbnail").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/unlabelled/x").status, 404);
  const json other_size = {{"features", {{0.5, 0.5}}}};
  EXPECT_EQ(ask("POST", "/v1/unlabelled", other_size.dump(), kJson).status, 400);
  const int64_t d = ask("GET", "/v1/recognizer").json().at("feature_dim");
  const json feature = {{"features", {std::vector<double>(static_cast<size_t>(d), 0.5)}}};
  EXPECT_EQ(ask("POST", "/v1/unlabelled", feature.dump(), kJson).json().at("images"), 2);
}

TEST_F(ServedUnsorted, RefusesWhatIsNoPhotoAndSaysWhichCouldNotBeRead) {
  EXPECT_EQ(ask("POST", "/v1/unlabelled", "no image", kPng).status, 400);
  EXPECT_EQ(ask("POST", "/v1/unlabelled", form_of({{"class", "cat"}}), kForm).status, 400);
  EXPECT_EQ(ask("POST", "/v1/unlabelled", json::object().dump(), kJson).status, 400);
  EXPECT_EQ(ask("PUT", "/v1/unlabelled").status, 405);
  const Reply mixed =
      ask("POST", "/v1/unlabelled", form_of({{"image", png(40), "a.png"}, {"image", "x", "b.png"}}), kForm);
  ASSERT_EQ(mixed.status, 200) << mixed.body;
  EXPECT_EQ(mixed.json().at("added"), 1);
  EXPECT_EQ(mixed.json().at("unreadable").at(0).at("image"), "b.png");
}

TEST_F(ServedUnsorted, SuggestsThemInOrderAndTakesTheirNames) {
  EXPECT_EQ(ask("GET", "/v1/suggestions").json(), R"({"photos": [], "images": 0})"_json);
  ASSERT_EQ(add({20, 120, 235}).status, 200);
  EXPECT_EQ(ask("GET", "/v1/suggestions").status, 409) << "no class yet";
  for (const int grey : {10, 30}) enrol("dark", static_cast<uint8_t>(grey));
  for (const int grey : {225, 245}) enrol("bright", static_cast<uint8_t>(grey));
  const json found = ask("GET", "/v1/suggestions?count=2").json();
  EXPECT_EQ(found.at("images"), 3);
  ASSERT_EQ(found.at("photos").size(), 2U);
  const json first = found["photos"][0];
  EXPECT_GE(first.at("share"), found["photos"][1].at("share"));
  const std::string path = "/v1/unlabelled/" + first.at("photo").dump();
  const std::string picture = ask("GET", path + "/thumbnail").body;
  const Reply named = ask("POST", path + "/label", R"({"class": "dark"})", kJson);
  ASSERT_EQ(named.status, 200) << named.body;
  EXPECT_EQ(named.json().at("images"), 3);
  EXPECT_EQ(named.json().at("unlabelled"), 2);
  EXPECT_EQ(named.json().at("change").at("what"), "enrol 1 image of 'dark'");
  const json example = ask("GET", "/v1/classes/dark").json().at("examples").back();
  EXPECT_EQ(example.at("source"), first.at("source"));
  EXPECT_EQ(ask("GET", "/v1/examples/" + example.at("example").dump() + "/thumbnail").body, picture);
  for (const json& one : ask("GET", "/v1/suggestions").json().at("photos"))
    EXPECT_NE(one.at("photo"), first.at("photo"));
  EXPECT_EQ(ask("POST", path + "/label", R"({"class": "dark"})", kJson).status, 404) << "it is unlabelled no more";
  ASSERT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(listed().at("images"), 3);
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json().at("images"), 2);
}

TEST_F(ServedUnsorted, RefusesNamesThatAreNoneAndOtherCounts) {
  ASSERT_EQ(add({20}).status, 200);
  for (const char* wrong : {"{}", R"({"class": ""})", R"({"class": 1})", R"({"name": "dark"})"})
    EXPECT_EQ(ask("POST", "/v1/unlabelled/1/label", wrong, kJson).status, 400) << wrong;
  EXPECT_EQ(ask("POST", "/v1/unlabelled/x/label", R"({"class": "dark"})", kJson).status, 404);
  EXPECT_EQ(ask("POST", "/v1/unlabelled/1/label", R"({"class": "new"})", kJson).json().at("is_new"), true);
  for (const char* wrong : {"0", "101", "x"})
    EXPECT_EQ(ask("GET", std::string("/v1/suggestions?count=") + wrong).status, 400) << wrong;
}

TEST_F(ServedUnsorted, ConflictsWithAMethodThatStaysAsItIsAndWithTheMost) {
  NewExamples many;
  RecognizerFile file(path_);
  many.features = array_of(at::rand({kMostUnlabelled - 1, file.settings().feature_dim}));
  for (int64_t i = 0; i + 1 < kMostUnlabelled; ++i) many.hashes.push_back(std::to_string(i));
  file.add_unlabelled(many);
  const Reply full = add({20, 45});
  EXPECT_EQ(full.status, 409);
  EXPECT_THAT(full.body, HasSubstr("exceed the limit of 5000"));
  path_ = fitted_;
  serve();
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("takes_unlabelled"), false);
  const Reply fixed = add({20});
  EXPECT_EQ(fixed.status, 409);
  EXPECT_THAT(fixed.body, HasSubstr("has the fixed space"));
  EXPECT_THAT(fixed.body, ::testing::Not(HasSubstr(folder_.path().string()))) << "nothing about the machine";
}

TEST_F(ServedUnsorted, ManyPhotosArePutInAClassAndRemovedAsOneChange) {
  for (const int grey : {10, 30, 240}) enrol("dark", static_cast<uint8_t>(grey));
  ASSERT_EQ(add({20, 120, 235}).status, 200);
  const json before = ask("GET", "/v1/classes").json().at("classes"), photos = listed().at("photos");
  const int64_t bright = ask("GET", "/v1/classes/dark").json().at("examples").at(2).at("example");
  const json some = {{"class", "bright"},
                     {"examples", {bright, bright}},
                     {"unlabelled", {photos[1].at("photo"), photos[2].at("photo")}}};
  const Reply placed = ask("POST", "/v1/photos/place", some.dump(), kJson);
  ASSERT_EQ(placed.status, 200) << placed.body;
  EXPECT_EQ(placed.json().at("is_new"), true);
  EXPECT_EQ(placed.json().at("added"), 3);
  EXPECT_EQ(placed.json().at("change").at("what"), "move 3 images to 'bright'");
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json().at("images"), 2);
  EXPECT_EQ(listed().at("images"), 1);
  const json examples = ask("GET", "/v1/classes/bright").json().at("examples");
  ASSERT_EQ(examples.size(), 3U);
  EXPECT_EQ(ask("GET", "/v1/examples/" + examples[2].at("example").dump() + "/thumbnail").status, 200);
  EXPECT_EQ(ask("POST", "/v1/photos/place", some.dump(), kJson).status, 404) << "they have other numbers now";
  const json there = {{"class", "bright"}, {"examples", {examples[0].at("example")}}};
  EXPECT_EQ(ask("POST", "/v1/photos/place", there.dump(), kJson).status, 409);
  const json gone = {{"examples", {examples[0].at("example")}}, {"unlabelled", {photos[0].at("photo")}}};
  const Reply removed = ask("POST", "/v1/photos/remove", gone.dump(), kJson);
  ASSERT_EQ(removed.status, 200) << removed.body;
  EXPECT_EQ(removed.json().at("change").at("what"), "remove 2 images");
  EXPECT_EQ(listed().at("images"), 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes").json().at("classes"), before);
  EXPECT_EQ(listed().at("photos"), photos);
  for (const char* wrong :
       {"{}", R"({"class": "a"})", R"({"class": "a", "examples": 1})", R"({"class": "a", "examples": ["1"]})"})
    EXPECT_EQ(ask("POST", "/v1/photos/place", wrong, kJson).status, 400) << wrong;
}

TEST_F(ServedUnsorted, SimilarPhotosAreFoundByAPhotoThatIsSentOrHeld) {
  for (const int grey : {10, 30}) enrol("dark", static_cast<uint8_t>(grey));
  enrol("bright", 240);
  ASSERT_EQ(add({20}).status, 200);
  const json sent = ask("POST", "/v1/similar?count=2", png(240), kPng).json().at("photos");
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].at("class"), "bright");
  EXPECT_NEAR(sent[0].at("similarity").get<double>(), 1, 1e-4);
  const json unlabelled = {{"unlabelled", listed().at("photos")[0].at("photo")}};
  const json like = ask("POST", "/v1/similar", unlabelled.dump(), kJson).json().at("photos");
  ASSERT_EQ(like.size(), 4U);
  EXPECT_EQ(like[0].at("unlabelled"), unlabelled.at("unlabelled"));
  EXPECT_EQ(like[3].at("class"), "bright");
  EXPECT_EQ(ask("POST", "/v1/similar", R"({"example": 999})", kJson).status, 404);
  EXPECT_EQ(ask("POST", "/v1/similar", R"({"words": "a grey bird"})", kJson).status, 409);
  for (const char* wrong : {"{}", R"({"example": "1"})", R"({"example": 1, "unlabelled": 1})", R"({"words": 1})"})
    EXPECT_EQ(ask("POST", "/v1/similar", wrong, kJson).status, 400) << wrong;
}

}  // namespace
}  // namespace protocom::testing
