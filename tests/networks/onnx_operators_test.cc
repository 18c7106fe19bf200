#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using nlohmann::json;
using protocom::testing::images;
using protocom::testing::message_of;
using protocom::testing::OnnxAttributes;
using protocom::testing::OnnxWriter;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

constexpr int64_t kGoldenSide = 8;

/// Returns the results of tests/golden/onnx_operators.py.
const json& operator_goldens() {
  static const json kAll = [] {
    std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "onnx_operators.json");
    return json::parse(file);
  }();
  return kAll;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, golden] : operator_goldens().items()) names.push_back(name);
  return names;
}

std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

EncoderFileOptions as_they_are() {
  EncoderFileOptions asked;
  asked.preprocessing = Preprocessing{kGoldenSide};
  return asked;
}

class OnnxOperator : public ::testing::TestWithParam<std::string> {};

TEST_P(OnnxOperator, GivesWhatOnnxRuntimeGives) {
  const json& golden = operator_goldens().at(GetParam());
  const TempDir folder;
  write_file(folder / "encoder.onnx", bytes_of(golden.at("file").get<std::string>()));
  const at::Tensor features = open_backbone(folder / "encoder.onnx", as_they_are())->forward(images(kGoldenSide));
  ASSERT_EQ(features.size(1), golden.at("dim").get<int64_t>());
  const auto step = golden.at("step").get<int64_t>();
  for (int64_t i = 0; i < 2; ++i) {
    const auto row = golden.at("features").at(static_cast<size_t>(i)).get<std::vector<float>>();
    const at::Tensor expected = at::tensor(row);
    const at::Tensor found = features[i].slice(0, 0, features.size(1), step);
    ASSERT_EQ(found.sizes(), expected.sizes());
    const float largest = expected.abs().max().item<float>();
    EXPECT_LT((found - expected).abs().max().item<float>(), 1e-5F * largest) << "image " << i << "\n" << found;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnnxOperator, ::testing::ValuesIn(operator_names()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// Returns the error about a graph of one operator on the images, and constants that `add` writes.
template <typename Add>
std::string refusal_of(const Add& add, int64_t side = kGoldenSide) {
  const TempDir folder;
  OnnxWriter writer(21);
  writer.input("images", {1, 3, side, side});
  add(writer);
  writer.output("features");
  write_file(folder / "encoder.onnx", writer.bytes());
  EncoderFileOptions asked;
  asked.preprocessing = Preprocessing{side};
  return message_of([&] { open_backbone(folder / "encoder.onnx", asked); });
}

TEST(OnnxQuantised, ValuesWithoutWhatTheyNeedAreRefused) {
  EXPECT_THAT(refusal_of([](OnnxWriter& to) { to.node("MatMulInteger", {"images"}, {"features"}); }),
              HasSubstr("MatMulInteger 'node_features': missing input 2, expected at least 2"));
  EXPECT_THAT(refusal_of([](OnnxWriter& to) {
                to.node("QLinearConv", {"images", "images"}, {"features"});
              }),
              HasSubstr("QLinearConv 'node_features': missing input 3, expected at least 8"));
  const auto quantized = [](const OnnxAttributes& attributes, const at::Tensor& scale) {
    return refusal_of([&](OnnxWriter& to) {
      to.raw("scale", scale);
      to.node("QuantizeLinear", {"images", "scale"}, {"features"}, attributes);
    });
  };
  EXPECT_THAT(quantized({{}, {{"block_size", 4}}}, at::ones({})), HasSubstr("block_size is not supported"));
  EXPECT_THAT(quantized({}, at::ones({5})), HasSubstr("5 values, expected one value or 3"));
  EXPECT_THAT(quantized({{}, {{"output_dtype", 23}}}, at::ones({})),
              HasSubstr("only 8-bit and signed 16-bit integers"));
}

TEST(OnnxEinsum, AnEquationThatDoesNotFitIsRefused) {
  const auto refusal = [](const std::string& equation, int64_t side = kGoldenSide, size_t inputs = 2) {
    return refusal_of(
        [&](OnnxWriter& to) {
          OnnxAttributes attributes;
          attributes.text = {{"equation", equation}};
          to.node("Einsum", std::vector<std::string>(inputs, "images"), {"features"}, attributes);
        },
        side);
  };
  EXPECT_THAT(refusal("bchw->bc"), HasSubstr("has 1 inputs, the operator has 2"));
  EXPECT_THAT(refusal("bchw,bcw->bc"), HasSubstr("'bcw' of the equation does not fit an input of 4 axes"));
  EXPECT_THAT(refusal("bchw,bhcw->bc"), HasSubstr("in one input and"));
  EXPECT_THAT(refusal("b?hw,bchw->bc"), HasSubstr("expected letters"));
  EXPECT_THAT(refusal("bchw,bchw->bx"), HasSubstr("the result 'bx' of the equation"));
  EXPECT_THAT(refusal("bchw,bchw->bb"), HasSubstr("a repeated axis"));
  EXPECT_THAT(refusal("bchw,bCHW->bhwHW", 128), HasSubstr("the output has more than"));
  EXPECT_THAT(refusal("bchw,BCHW,bxyz->bB", 128, 3), HasSubstr("multiply-adds"));
}

TEST(OnnxPlaces, OutOfRangeAreRefused) {
  const auto gathered = [](const std::vector<int64_t>& places) {
    return refusal_of([&](OnnxWriter& to) {
      to.raw("places", at::tensor(places, at::kLong).view({1, -1}), 7);
      to.node("GatherND", {"images", "places"}, {"features"});
    });
  };
  EXPECT_THAT(gathered({0, 0, 0, 0, 0}), HasSubstr("do not fit an input of 4 axes"));
  EXPECT_THAT(gathered({0, 3}), HasSubstr("GatherND 'node_features'"));
}

TEST(OnnxAttention, ThatIsLargeOrOfTextsIsRefused) {
  const auto attending = [](const OnnxAttributes& attributes, int64_t side = kGoldenSide) {
    return refusal_of(
        [&](OnnxWriter& to) {
          to.integers("shape", {1, 1, side * side, 3});
          to.node("Reshape", {"images", "shape"}, {"tokens"});
          to.node("Attention", {"tokens", "tokens", "tokens"}, {"features"}, attributes);
        },
        side);
  };
  EXPECT_THAT(attending({{}, {{"is_causal", 1}}}), HasSubstr("is_causal=1 is not supported"));
  EXPECT_THAT(attending({}, 128), HasSubstr("the output has more than"));
}

}  // namespace
}  // namespace protocom
