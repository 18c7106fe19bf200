#include "http/detail/json_body.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "http/detail/http_error.h"
#include "tensors/tensors.h"

namespace protocom::http {
namespace {

using ::testing::HasSubstr;

const FeatureShape kPairs{2, 3};

JsonShape shape_with(std::set<std::string> members) {
  JsonShape shape;
  shape.members = std::move(members);
  if (shape.members.count("features") > 0) shape.features = kPairs;
  return shape;
}

/// Returns the error about a body; "200 " if there is none.
std::string said_of(const std::string& body, const JsonShape& shape = shape_with({"features", "attributes"})) {
  try {
    read_json_body(body, shape);
    return "200 ";
  } catch (const HttpError& error) {
    return std::to_string(error.status) + " " + error.message;
  }
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(JsonBody, GivesFeaturesAsATensorAndTheRestAsValues) {
  const JsonBody list =
      read_json_body(R"({"features": [[1, -2.5], [3e2, 4]], "attributes": ["a", {"name": "b", "weight": 0.5}]})",
                     shape_with({"features", "attributes"}));
  EXPECT_TRUE(at::equal(tensor_of(list.features), at::tensor({1.0F, -2.5F, 300.0F, 4.0F}).view({2, 2})));
  EXPECT_EQ(list.members, nlohmann::json::parse(R"({"attributes": ["a", {"name": "b", "weight": 0.5}]})"));
  const JsonBody one = read_json_body(R"({"features": [1, 2]})", shape_with({"features"}));
  EXPECT_TRUE(at::equal(tensor_of(one.features), at::tensor({1.0F, 2.0F}).view({1, 2})));
  EXPECT_FALSE(read_json_body("{}", shape_with({"features"})).features.defined());
}

TEST(JsonBody, RefusesFeaturesOfAnyOtherShape) {
  for (const char* features :
       {"1", "null", "\"a\"", "{}", "[]", "[1]", "[1, 2, 3]", "[[1]]", "[[1, 2, 3]]", "[[1, 2], 3]", "[1, [2, 3]]",
        "[[1, [2]]]", "[[]]", "[{}, {}]", "[[1, null]]", "[[1, 2], []]"})
    EXPECT_THAT(said_of("{\"features\": " + std::string(features) + "}"), HasSubstr("400 ")) << features;
  EXPECT_THAT(said_of(R"({"features": [[1, 2], [1, 2], [1, 2], [1, 2]]})"), HasSubstr("413 "));
  EXPECT_THAT(said_of(R"({"features": [1, 1e300]})"), HasSubstr("2^63"));
  EXPECT_THAT(said_of(R"({"features": [1, 1e999]})"), HasSubstr("400 "));
}

TEST(JsonBody, RefusesWhatIsThereTwiceWhereverItIs) {
  EXPECT_THAT(said_of(R"({"features": [1, 2], "features": [1, 2]})"), HasSubstr("400 the body has a duplicate member"));
  EXPECT_THAT(said_of(R"({"attributes": [], "attributes": []})"), HasSubstr("duplicate member"));
  EXPECT_THAT(said_of(R"({"attributes": [{"name": "a", "name": "b"}]})"), HasSubstr("duplicate member"));
  EXPECT_EQ(said_of(R"({"attributes": [{"name": "a"}, {"name": "b"}]})"), "200 ");
}

TEST(JsonBody, RefusesWhatIsNoObjectOfKnownMembersInPlainWords) {
  EXPECT_THAT(said_of("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(said_of("1"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(said_of(R"({"feature": [1]})"),
              HasSubstr("has an unknown member 'feature': expected attributes or features"));
  EXPECT_THAT(said_of("{\n\"features\": [1, 2"), HasSubstr("the body:2: not valid JSON: it ends too early"));
  EXPECT_THAT(said_of(R"({"attributes": [{"name": [[1]]}]})"), HasSubstr("nested deeper"));
  EXPECT_THAT(said_of("{} {}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(said_of("{\"attributes\": [\"\xff\"]}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(said_of(""), HasSubstr("not valid JSON"));
}

TEST(JsonBody, TakesTimeByItsLengthAloneWhateverItHolds) {
  constexpr size_t kMany = 2'000'000;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(said_of("{\"features\":[" + repeated("{},", kMany) + "0]}"), HasSubstr("400 "));
  EXPECT_THAT(said_of("{\"attributes\":[" + repeated("{},", kMany) + "0]}"), HasSubstr("413 "));
  EXPECT_THAT(said_of("{\"attributes\":[" + repeated("[],", kMany) + "0]}"), HasSubstr("413 "));
  EXPECT_THAT(said_of("{\"features\":[" + repeated("[1,2],", kMany) + "0]}"), HasSubstr("413 "));
  EXPECT_THAT(said_of("{\"attributes\":[\"" + repeated("\\u0041", kMany) + "\"]}"), HasSubstr("200 "));
  EXPECT_THAT(said_of(repeated("[", kMany)), HasSubstr("400 "));
  EXPECT_THAT(said_of("{\"attributes\":" + repeated("[", kMany)), HasSubstr("400 "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "by squares it takes hours";
}

TEST(JsonBody, IsGivenUpOnceNobodyWaitsForIt) {
  JsonShape shape = shape_with({"features"});
  shape.features = FeatureShape{1'000'000, 1};
  Cancellation cancellation;
  shape.cancellation = &cancellation;
  const std::string body = "{\"features\":[" + repeated("1,", 100'000) + "1]}";
  EXPECT_THAT(said_of(body, shape), HasSubstr("400 feature: expected a list"));
  cancellation.cancel();
  EXPECT_THAT(said_of(body, shape), HasSubstr("503 "));
}

}  // namespace
}  // namespace protocom::http
