// The Open Inference Protocol:
// https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_rest.md
#include <map>

#include "http/server_support.h"
#include "io/base64.h"
#include "recognizer/answer_fields.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class InferenceProtocol : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    for (int i = 0; i < 6; ++i) enrol("class" + std::to_string(i), static_cast<uint8_t>(40 * i));
    model_ = "/v2/models/" + path_.stem().string();
  }

  static json image_input(const std::vector<std::string>& files) {
    json data = json::array();
    for (const std::string& file : files) data.push_back(base64(file));
    return {{"name", "image"}, {"datatype", "BYTES"}, {"shape", {files.size()}}, {"data", data}};
  }

  [[nodiscard]] Reply infer(const json& body) const { return ask("POST", model_ + "/infer", body.dump(), kJson); }

  /// Returns the tensors of a response by name, each with the number of values that its shape states.
  [[nodiscard]] std::map<std::string, json> tensors(const json& body) const {
    const Reply reply = infer(body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    std::map<std::string, json> found;
    const json said = reply.json();
    for (const json& tensor : said.at("outputs")) {
      size_t count = 1;
      for (const json& size : tensor.at("shape")) count *= size.get<size_t>();
      EXPECT_EQ(tensor.at("data").size(), count) << tensor.dump();
      found[tensor.at("name")] = tensor;
    }
    return found;
  }

  [[nodiscard]] std::string complaint(const json& body) const {
    const Reply reply = infer(body);
    EXPECT_EQ(reply.status, 400) << reply.body;
    return reply.json().at("error");
  }

  std::string model_;
};

TEST_F(InferenceProtocol, GivesTheAnswersOfClassify) {
  const std::vector<FormPart> form = {{"image", png(70), "a.png"}, {"image", png(210), "b.png"}};
  const json answers = ask("POST", "/v1/classify?top=3", form_of(form), kForm).json().at("answers");
  const json body = {{"id", "7"},
                     {"inputs", {image_input({png(70), png(210)})}},
                     {"parameters", {{"top", 3}, {"binary_data_output", true}}}};
  const json said = infer(body).json();
  EXPECT_EQ(said.at("id"), "7");
  EXPECT_EQ(said.at("model_name"), path_.stem().string());
  const auto found = tensors(body);
  EXPECT_EQ(found.size(), 4 + answer_fields().size());
  EXPECT_EQ(found.at("classes").at("shape"), json({2, 3}));
  for (size_t i = 0; i < 2; ++i) {
    const json& ranking = answers[i].at("ranking");
    EXPECT_EQ(found.at("label").at("data")[i], ranking[0].at("class"));
    EXPECT_EQ(found.at("probability").at("data")[i], ranking[0].at("probability"));
    EXPECT_EQ(found.at("familiarity").at("data")[i], answers[i].at("familiarity"));
    EXPECT_EQ(found.at("none_of_these").at("data")[i], false) << "without a calibration";
    EXPECT_EQ(found.at("none").at("data")[i], 0) << "without a calibration";
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(found.at("classes").at("data")[3 * i + k], ranking[k].at("class"));
      EXPECT_EQ(found.at("probabilities").at("data")[3 * i + k], ranking[k].at("probability"));
    }
  }
}

TEST_F(InferenceProtocol, TakesFeaturesFlatOrNested) {
  const std::vector<FormPart> form = {
      {"image", png(70), "a.png"}, {"image", png(210), "b.png"}, {"with_features", "true"}};
  const json answers = ask("POST", "/v1/classify", form_of(form), kForm).json().at("answers");
  const json first = answers[0].at("feature"), second = answers[1].at("feature");
  json flat = first;
  flat.insert(flat.end(), second.begin(), second.end());
  const auto input = [&](const json& shape, const json& data) {
    return json{{"inputs", {{{"name", "features"}, {"datatype", "FP32"}, {"shape", shape}, {"data", data}}}}};
  };
  const json of_images = tensors({{"inputs", {image_input({png(70), png(210)})}}}).at("probabilities");
  EXPECT_EQ(tensors(input({2, first.size()}, flat)).at("probabilities"), of_images);
  EXPECT_EQ(tensors(input({2, first.size()}, {first, second})).at("probabilities"), of_images);
  EXPECT_EQ(tensors(input(json::array({first.size()}), first)).at("label").at("data"), json({"class2"}));
}

TEST_F(InferenceProtocol, ReturnsTheOutputsThatWereRequested) {
  const auto found = tensors({{"inputs", {image_input({png(70)})}}, {"outputs", {{{"name", "label"}}}}});
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(found.count("label"), 1U);
}

TEST_F(InferenceProtocol, DescribesTheServerAndTheModel) {
  EXPECT_EQ(ask("GET", "/v2").json().at("name"), "protocom");
  EXPECT_EQ(ask("GET", "/v2/health/live").json(), json({{"live", true}}));
  EXPECT_EQ(ask("GET", "/v2/health/ready").json(), json({{"ready", true}}));
  EXPECT_EQ(ask("GET", model_ + "/ready").json().at("ready"), true);
  const json model = ask("GET", model_).json();
  EXPECT_EQ(model.at("inputs")[1].at("shape"), json({-1, ask("GET", "/v1/recognizer").json().at("feature_dim")}));
  const auto found = tensors({{"inputs", {image_input({png(70)})}}});
  for (const json& output : model.at("outputs"))
    EXPECT_EQ(found.at(output.at("name")).at("datatype"), output.at("datatype")) << output.dump();
}

TEST_F(InferenceProtocol, RefusesWhatIsNoRequestOfIt) {
  const json image = image_input({png(70)});
  EXPECT_THAT(complaint(json::object()), HasSubstr("missing member 'inputs'"));
  EXPECT_THAT(complaint({{"inputs", {image, image}}}), HasSubstr("expected one input"));
  EXPECT_THAT(complaint({{"inputs", {image}}, {"outputs", {{{"name", "logits"}}}}}),
              HasSubstr("unknown output 'logits'"));
  EXPECT_THAT(complaint({{"inputs", {image}}, {"parameters", {{"top", 0}}}}), HasSubstr("from 1 to 20, found 0"));
  EXPECT_THAT(complaint({{"inputs", {image}}, {"ids", "7"}}), HasSubstr("unknown member 'ids'"));
  const auto changed = [&](const char* member, const json& value) {
    json other = image;
    other[member] = value;
    return complaint({{"inputs", {other}}});
  };
  EXPECT_THAT(changed("name", "pixels"), HasSubstr("unknown input 'pixels'"));
  EXPECT_THAT(changed("datatype", "UINT8"), HasSubstr("expected BYTES, found UINT8"));
  EXPECT_THAT(changed("shape", json::array({2})), HasSubstr("'data' has 1 values, 'shape' says 2"));
  EXPECT_THAT(changed("shape", json::array({-1})), HasSubstr("expected one or two sizes"));
  EXPECT_THAT(changed("shape", json::array({1, 1, 1})), HasSubstr("expected one or two sizes"));
  EXPECT_THAT(changed("data", json::array({"bm8gaW1hZ2U="})), HasSubstr("image 0: "));
  EXPECT_THAT(changed("data", json::array({7})), HasSubstr("expected a string"));
  const json features = {{"name", "features"}, {"datatype", "FP32"}, {"shape", {1, 1}}, {"data", {0.5}}};
  EXPECT_THAT(complaint({{"inputs", {features}}}), HasSubstr("expected the shape [n, "));
  EXPECT_EQ(ask("POST", "/v2/models/cats/infer", json{{"inputs", {image}}}.dump(), kJson).status, 404);
  EXPECT_THAT(ask("GET", "/v2/models/cats").json().at("error").get<std::string>(), HasSubstr("unknown model 'cats'"));
  for (const char* path : {"/v2/", "/v2/models", "/v2/models/%00", "/v2/models/a/versions/1/infer"})
    EXPECT_TRUE(ask("GET", path).json().at("error").is_string()) << path;
  EXPECT_TRUE(ask("GET", "/v2x").json().at("error").is_object());
  EXPECT_EQ(ask("POST", model_ + "/infer", "x", kPng).json(), json({{"error", "expected a body of application/json"}}));
}

TEST_F(InferenceProtocol, TakesABodyWithoutAType) {
  const json body = {{"inputs", {image_input({png(70)})}}};
  EXPECT_EQ(ask("POST", model_ + "/infer", body.dump()).json(), infer(body).json());
  EXPECT_EQ(ask("POST", "/v1/classes/class1/merge", R"({"into": "class2"})").status, 415) << "where something changes";
}

}  // namespace
}  // namespace protocom::testing
