#include "io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/printed_json.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refused(const std::string& text) {
  return message_of([&] { parse_json(text, "a.json"); });
}

std::string nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
}

TEST(Json, ReadsWhatIsNestedAsDeepAsAnyFileOfOurs) {
  EXPECT_EQ(parse_json(R"({"a": [1, {"b": "]]["}]})", "a.json")["a"][1]["b"], "]][");
  EXPECT_NO_THROW(parse_json(nested(100), "a.json"));
}

TEST(Json, RefusesNestingThatWouldExhaustTheStack) {
  EXPECT_THAT(refused(nested(101)), AllOf(HasSubstr("a.json"), HasSubstr("nested deeper than 100")));
  EXPECT_THAT(refused(nested(80'000)), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(refused(R"({"a": )" + nested(80'000) + "}"), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(refused(std::string(80'000, '[')), HasSubstr("nested deeper than 100"));
}

TEST(Json, BracketsInTextsAreNoNesting) {
  const std::string text = "\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"";
  EXPECT_NO_THROW(parse_json("[" + text + "]", "a.json"));
}

TEST(Json, RefusesMoreValuesThanMemoryIsFor) {
  EXPECT_THAT(refused("[" + std::string(30'000'000, ',') + "]"),
              AllOf(HasSubstr("a.json"), HasSubstr("too many values")));
}

TEST(Json, SaysInOneSentenceWhereASyntaxErrorIs) {
  const std::string message = refused("{\"a\": 1,\n \"b\": 1]\n}");
  EXPECT_THAT(message, AllOf(HasSubstr("a.json:2"), HasSubstr("not valid JSON")));
  EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
  EXPECT_THAT(refused(""), HasSubstr("a.json"));
  EXPECT_THAT(refused("{\"a\": \"" + std::string(5000, 'x')), HasSubstr("not valid JSON"));
  EXPECT_LT(refused("{\"a\": \"" + std::string(5000, 'x')).size(), 300u);
}

TEST(Json, RefusesNumbersThatNoCountCouldHold) {
  EXPECT_THAT(refused(R"({"n_way": [1, {"deep": 1e308}]})"), AllOf(HasSubstr("a.json"), HasSubstr("1e+308")));
  EXPECT_THAT(refused("-9.3e18"), HasSubstr("2^63"));
  EXPECT_EQ(parse_json("[9.2e18, 18446744073709551615, -9223372036854775808]", "a.json").size(), 3u);
}

TEST(Json, WholeNumbersAreInRangeOrRefused) {
  EXPECT_EQ(whole_number<int>(parse_json("2147483647", "a.json")), 2147483647);
  EXPECT_EQ(whole_number<int>(parse_json("-2147483648", "a.json")), -2147483647 - 1);
  EXPECT_EQ(whole_number<int>(nlohmann::json(7)), 7);
  EXPECT_EQ(whole_number<uint64_t>(nlohmann::json(7)), 7u);
  EXPECT_EQ(whole_number<uint64_t>(parse_json("18446744073709551615", "a.json")), 18446744073709551615u);
  for (const char* text : {"2147483648", "-2147483649", "4294967297", "1.0", "\"1\"", "null", "[1]"})
    EXPECT_THROW(whole_number<int>(parse_json(text, "a.json")), nlohmann::json::type_error) << text;
  for (const char* text : {"-1", "-1.5", "1e10"})
    EXPECT_THROW(whole_number<uint64_t>(parse_json(text, "a.json")), nlohmann::json::type_error) << text;
}

TEST(Json, AWholeNumberThatIsNotThereIsTheOtherOne) {
  const nlohmann::json object = parse_json(R"({"a": 3, "b": 2.5})", "a.json");
  EXPECT_EQ(whole_number_or<int64_t>(object, "a", 7), 3);
  EXPECT_EQ(whole_number_or<int64_t>(object, "c", 7), 7);
  EXPECT_THROW(whole_number_or<int64_t>(object, "b", 7), nlohmann::json::type_error);
}

TEST(Json, SaysWhatATypeErrorIsWithoutTheLibrarysMark) {
  try {
    parse_json("{}", "a.json").at("kind");
    FAIL();
  } catch (const nlohmann::json::exception& error) {
    EXPECT_EQ(reason_of(error), "key 'kind' not found");
  }
}

TEST(Json, WhatIsPrintedSteersNoTerminalAndReadsAsItWas) {
  const nlohmann::json value = {{"name", "x\xc2\x9b\xe2\x80\xae\x7f\x1b\xc3\xb6"}};
  EXPECT_EQ(printed_json(value), "{\"name\":\"x\\u009b\\u202e\\u007f\\u001b\xc3\xb6\"}");
  EXPECT_EQ(parse_json(printed_json(value, 2), "a.json"), value);
}

}  // namespace
}  // namespace protocom
