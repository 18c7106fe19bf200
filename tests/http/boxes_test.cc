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
  [[nodiscard]] static std::string scene(uint8_t dark = 10, uint8_t bright = 240) {
    Image image{100, 200, std::vector<uint8_t>(size_t{100} * 200 * 3, 10)};
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = i / 3 % 200 < 100 ? dark : bright;
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

/// Sends a detector's file with the scene, and with an image that it does not list.
class ServedBoxFiles : public ServedBoxes {
 protected:
  [[nodiscard]] Reply detected(const std::string& file, std::vector<FormPart> more = {}) const {
    more.insert(more.end(),
                {{"image", png(30), "other.png"}, {"image", scene(), "scene.png"}, {"boxes", file, "boxes.dat"}});
    return ask("POST", "/v1/classify", form_of(more), kForm);
  }
  const std::string mega_ = R"({"detection_categories": {"1": "animal", "2": "person"}, "images": [
      {"file": "site/scene.png", "detections": [{"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.3, 0.6]},
                                                {"category": "2", "conf": 0.4, "bbox": [0.6, 0.2, 0.3, 0.6]}]},
      {"file": "site/far.png", "detections": [{"category": "1", "conf": 0.9, "bbox": [0, 0, 1, 1]}]}]})";
};

TEST_F(ServedBoxFiles, OfADetectorAreThoseOfTheImagesByTheirFileNames) {
  const Reply reply = detected(mega_);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json answers = reply.json().at("answers");
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].at("error"), "'boxes' has no box of this image");
  EXPECT_EQ(first(answers[1]), "dark");
  EXPECT_EQ(answers[1].at("box"), json::parse(left_));
  EXPECT_EQ(first(answers[2]), "bright");
  EXPECT_EQ(detected(mega_, {{"min_confidence", "0.5", ""}}).json().at("answers").size(), 2U);
  const json people = detected(mega_, {{"kinds", "person, vehicle", ""}}).json();
  EXPECT_THAT(people.dump(), HasSubstr("no box of the kind 'vehicle'"));
  EXPECT_EQ(first(detected(mega_, {{"kinds", "person", ""}}).json().at("answers").at(1)), "bright");
}

TEST_F(ServedBoxFiles, InPixelsBecomeShares) {
  const std::string coco =
      R"({"images": [{"id": 1, "file_name": "scene.png"}], "categories": [{"id": 1, "name": "bird"}],
      "annotations": [{"image_id": 1, "category_id": 1, "bbox": [120, 20, 60, 60]}]})";
  for (const std::string& file : {coco, std::string("image,x,y,width,height\nscene.png,120,20,60,60\n")}) {
    const Reply reply = detected(file);
    ASSERT_EQ(reply.status, 200) << reply.body;
    const json answer = reply.json().at("answers").at(1);
    EXPECT_EQ(first(answer), "bright");
    EXPECT_EQ(answer.at("box"), json::parse(right_));
    EXPECT_EQ(answer.at("familiarity"), classify("[[" + right_ + "]]").json().at("answers").at(0).at("familiarity"));
  }
}

TEST_F(ServedBoxFiles, ThatCannotBeReadAreRefusedByName) {
  const auto error = [&](const std::string& file, const std::vector<FormPart>& more = {}) {
    const Reply reply = detected(file, more);
    EXPECT_EQ(reply.status, 400) << reply.body;
    return reply.body;
  };
  EXPECT_THAT(error("{\"a\": 1}"), HasSubstr("boxes: expected JSON of MegaDetector"));
  EXPECT_THAT(error("image,x,y,width,height\nscene.png,1,2,3\n"), HasSubstr("boxes:2: 4 cells, the header has 5"));
  EXPECT_THAT(error("image,x,y,width,height\ngone.png,1,2,3,4\n"),
              HasSubstr("boxes has no box for any of the 2 images"));
  EXPECT_THAT(error("[[[0, 0, 1"), HasSubstr("expected a list with the boxes"));
  EXPECT_THAT(error("\x1f\x8b"), HasSubstr("found gzip"));
  EXPECT_THAT(error(mega_, {{"image", scene(), "scene.png"}}),
              HasSubstr("each image of the form needs a file name of its own, found 'scene.png'"));
  EXPECT_THAT(error(mega_, {{"min_confidence", "\"a\"", ""}}), HasSubstr("'min_confidence': expected a number"));
  EXPECT_THAT(error(mega_, {{"kinds", "7", ""}}), HasSubstr("'kinds': expected"));
  EXPECT_THAT(error("[null, null]", {{"min_confidence", "0.5", ""}}), HasSubstr("'min_confidence' needs 'boxes' as"));
  const json body = {{"image", base64_of(scene())}, {"kinds", "animal"}};
  EXPECT_EQ(ask("POST", "/v1/classify", body.dump(), kJson).status, 400);
  EXPECT_EQ(detected(mega_ + std::string(size_t{128} << 10, ' ')).status, 413);
  std::string many = "image,x,y,width,height\n";
  for (int i = 0; i < 513; ++i)
    many += "scene.png," + std::to_string(i % 100) + "," + std::to_string(i / 100) + ",50,50\n";
  EXPECT_EQ(detected(many).status, 413) << "more than 512 boxes";
}

TEST_F(ServedBoxFiles, AreEnrolledToo) {
  const std::vector<FormPart> form = {
      {"image", scene(), "scene.png"}, {"image", png(30), "other.png"}, {"boxes", mega_, "mega.json"}};
  const json enrolled = ask("POST", "/v1/classes/half/examples", form_of(form), kForm).json();
  EXPECT_EQ(enrolled.at("added"), 2);
  EXPECT_THAT(enrolled.at("unreadable").dump(), HasSubstr("'boxes' has no box of this image"));
}

TEST_F(ServedBoxFiles, MakeASeriesOfThePhotosThatHaveABox) {
  const auto familiarity = [&](const std::vector<FormPart>& more) {
    std::vector<FormPart> form = {{"image", scene(), "scene.png"}, {"boxes", mega_, "mega.json"}};
    form.insert(form.end(), more.begin(), more.end());
    const json answers = ask("POST", "/v1/classify?series=one", form_of(form), kForm).json().at("answers");
    EXPECT_EQ(answers.size(), 1U);
    return answers.at(0).at("familiarity").get<double>();
  };
  EXPECT_EQ(familiarity({{"image", png(30), "other.png"}}), familiarity({}));
}

TEST_F(ServedBoxFiles, AreTestedOneByOne) {
  const auto tested = [&](const std::string& boxes, const std::string& labels) {
    std::vector<FormPart> form = {
        {"image", png(12), "other.png"}, {"image", scene(14, 235), "scene.png"}, {"boxes", boxes, "boxes.dat"}};
    if (!labels.empty()) form.push_back({"labels", labels, ""});
    return ask("POST", "/v1/test", form_of(form), kForm);
  };
  const json by_box = tested(mega_, R"(["dark", "dark", "bright"])").json();
  EXPECT_EQ(by_box.at("images"), 2) << by_box;
  EXPECT_EQ(by_box.at("accuracy"), 1.0);
  EXPECT_EQ(by_box.at("unreadable").size(), 1U) << "the image without a box";
  EXPECT_THAT(by_box.dump(), HasSubstr("scene.png#xywh=percent:60,20,30,60"));
  const json by_image = tested("[null, [" + left_ + ", " + right_ + "]]", R"(["dark", "dark"])").json();
  EXPECT_EQ(by_image.at("images"), 3) << by_image;
  EXPECT_NEAR(by_image.at("accuracy").get<double>(), 2.0 / 3, 1e-6);
  const json of_file =
      tested("image,x,y,width,height,class\nscene.png,20,20,60,60,dark\nscene.png,120,20,60,60,bright\n", "").json();
  EXPECT_EQ(of_file.at("accuracy"), 1.0) << of_file;
  EXPECT_THAT(tested(mega_, "").body, HasSubstr("give 'labels'"));
  EXPECT_THAT(tested(mega_, R"(["dark"])").body, HasSubstr("expected one per image or box, found 1 for 2 images"));
  const json body = {{"image", base64_of(scene(14, 235))}, {"boxes", {{{0.6, 0.2, 0.3, 0.6}}}}, {"labels", {"bright"}}};
  EXPECT_EQ(ask("POST", "/v1/test", body.dump(), kJson).json().at("accuracy"), 1.0);
}

TEST_F(ServedBoxFiles, HaveTheMarginThatWasSent) {
  write_file(folder_ / "scene.png", scene());
  Recognizer pets = Recognizer::open(path_);
  const Answer own = pets.classify(folder_ / "scene.png#xywh=percent:60,20,30,60&margin=0.5");
  const auto same = [&](const json& answer) {
    EXPECT_NEAR(answer.at("familiarity").get<double>(), own.familiarity, 1e-4);
    EXPECT_EQ(answer.at("box"), json::parse(right_));
  };
  same(detected(mega_, {{"box_margin", "0.5", ""}, {"kinds", "person", ""}}).json().at("answers").at(1));
  json body = {{"image", base64_of(scene())}, {"boxes", {{{0.6, 0.2, 0.3, 0.6}}}}, {"box_margin", 0.5}};
  same(ask("POST", "/v1/classify", body.dump(), kJson).json().at("answers").at(0));
  for (const char* wrong : {"2", "-1", "\"a\"", "null"})
    EXPECT_EQ(detected(mega_, {{"box_margin", wrong, ""}}).status, 400);
  body.erase("boxes");
  EXPECT_THAT(ask("POST", "/v1/classify", body.dump(), kJson).body, HasSubstr("'box_margin' needs 'boxes'"));
  body["boxes"] = mega_;
  EXPECT_THAT(ask("POST", "/v1/classify", body.dump(), kJson).body, HasSubstr("goes into a form"));
}

TEST_F(ServedBoxFiles, CountTheirPixels) {
  ServerOptions options;
  options.limits.request_pixels = int64_t{3} * 100 * 200;
  serve(options);
  std::string rows = "image,x,y,width,height\n";
  for (int i = 0; i < 3; ++i) rows += "scene.png,0,0," + std::to_string(198 + i) + ",100\n";
  EXPECT_EQ(detected(rows).status, 413) << "each cuts out the whole image";
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
  options.limits.request_pixels = int64_t{3} * 100 * 200;
  serve(options);
  const std::string whole = "[0, 0, 1, 1]";
  EXPECT_EQ(classify("[[" + whole + "]]").status, 200);
  EXPECT_EQ(classify("[[" + whole + "," + whole + "," + whole + "]]").status, 413) << "each cuts out the whole image";
  const std::vector<FormPart> unknown = {{"image", png(30), "a.png"}, {"boxes", "[null]", ""}};
  EXPECT_EQ(ask("POST", "/v1/unlabelled", form_of(unknown), kForm).status, 400) << "whole images";
}

}  // namespace
}  // namespace protocom::testing
