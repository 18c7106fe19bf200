// Boxes with images: each is a photo of its own.
#include <openssl/evp.h>

#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string base64_of(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  text.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                  reinterpret_cast<const unsigned char*>(bytes.data()),
                                                  static_cast<int>(bytes.size()))));
  return text;
}

class ServedBoxes : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    enrol("dark", 10);
    enrol("bright", 240);
  }
  /// Returns an image that is dark on the left and bright on the right.
  [[nodiscard]] static std::string scene() {
    Image image{100, 200, std::vector<uint8_t>(100 * 200 * 3, 10)};
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = i / 3 % 200 < 100 ? 10 : 240;
    return encode_png(image);
  }
  [[nodiscard]] Reply classify(const std::string& boxes) const {
    return ask("POST", "/v1/classify", form_of({{"boxes", boxes, ""}, {"image", scene(), "scene.png"}}), kForm);
  }
  static std::string first(const json& answer) { return answer.at("ranking").at(0).at("class"); }

  const std::string left_ = "[0.1, 0.2, 0.3, 0.6]", right_ = "[0.6, 0.2, 0.3, 0.6]";
};

TEST_F(ServedBoxes, AreAnsweredOneByOne) {
  const Reply reply = classify("[[" + left_ + ", " + right_ + "]]");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json answers = reply.json().at("answers");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(first(answers[0]), "dark");
  EXPECT_EQ(first(answers[1]), "bright");
  EXPECT_EQ(answers[0].at("box"), json::parse(left_));
  EXPECT_EQ(answers[1].at("box"), json::parse(right_));
  EXPECT_EQ(answers[1].at("image"), "scene.png");
  const json whole = classify("[null]").json().at("answers");
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_FALSE(whole[0].contains("box"));
}

TEST_F(ServedBoxes, AreWhatTheCommandLineCutsOut) {
  write_file(folder_ / "scene.png", scene());
  Recognizer pets = Recognizer::open(path_);
  const Answer own = pets.classify(folder_ / "scene.png#xywh=percent:60,20,30,60");
  const json answer = classify("[[" + right_ + "]]").json().at("answers").at(0);
  EXPECT_NEAR(answer.at("familiarity").get<double>(), own.familiarity, 1e-4);
}

TEST_F(ServedBoxes, AreEnrolledWithWhereTheyCameFrom) {
  const std::vector<FormPart> form = {{"image", scene(), "scene.png"},
                                      {"boxes", "[[" + left_ + "," + right_ + "]]", ""}};
  const Reply reply = ask("POST", "/v1/classes/half/examples", form_of(form), kForm);
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(reply.json().at("added"), 2);
  const json examples = ask("GET", "/v1/classes/half").json().at("examples");
  EXPECT_EQ(examples.at(0).at("source"), "scene.png#xywh=percent:10,20,30,60");
  EXPECT_EQ(ask("POST", "/v1/classes/half/examples", form_of(form), kForm).json().at("added"), 0) << "the same boxes";
  write_file(folder_ / "scene.png", scene());
  Recognizer pets = Recognizer::open(path_);
  const Enrolment again = pets.enrol({request("half", {(folder_ / "scene.png#xywh=percent:10,20,30,60").string()})});
  EXPECT_EQ(again.classes.at(0).added, 0) << "nor by the command line";
}

TEST_F(ServedBoxes, StandInJsonToo) {
  const json body = {{"image", base64_of(scene())}, {"boxes", {{{0.6, 0.2, 0.3, 0.6}}}}};
  const Reply reply = ask("POST", "/v1/classify", body.dump(), kJson);
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(first(reply.json().at("answers").at(0)), "bright");
}

TEST_F(ServedBoxes, ThatCannotBeCutOutAreSaidOneByOne) {
  const json answers = classify("[[" + left_ + ", [1.2, 0, 0.1, 0.1], [0.1, 0.1, 0, 0.1]]]").json().at("answers");
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(first(answers[0]), "dark");
  EXPECT_EQ(answers[1].at("error"), "a box outside the image");
  EXPECT_THAT(answers[2].at("error").get<std::string>(), HasSubstr("a box of no size"));
  EXPECT_TRUE(answers[2].contains("box"));
}

TEST_F(ServedBoxes, AreRefusedWhereTheyAreNone) {
  for (const char* wrong : {"x", "{}", "[]", "[null, null]", "[1]", "[[1]]", "[[[0.1, 0.2, 0.3]]]",
                            "[[[0, 0, 1, 1e999]]]", "[[[0, 0, \"a\", 1]]]", "[[{\"x\": 0}]]"})
    EXPECT_EQ(classify(wrong).status, 400) << wrong;
  const Reply pixels = classify("[[[20, 10, 60, 60]]]");
  EXPECT_EQ(pixels.status, 400);
  EXPECT_THAT(pixels.body, AllOf(HasSubstr("image 0 has 20"), HasSubstr("fractions of its width and height")));
  std::string many = left_;
  for (int i = 0; i < 512; ++i) many += "," + left_;
  EXPECT_EQ(classify("[[" + many + "]]").status, 413);
  ServerOptions options;
  options.limits.request_pixels = 3 * 100 * 200;
  serve(options);
  const std::string whole = "[0, 0, 1, 1]";
  EXPECT_EQ(classify("[[" + whole + "]]").status, 200);
  EXPECT_EQ(classify("[[" + whole + "," + whole + "," + whole + "]]").status, 413) << "each cuts out the whole image";
  const std::vector<FormPart> unknown = {{"image", png(30), "a.png"}, {"boxes", "[null]", ""}};
  EXPECT_EQ(ask("POST", "/v1/unlabelled", form_of(unknown), kForm).status, 400) << "whole images";
}

}  // namespace
}  // namespace protocom::testing
