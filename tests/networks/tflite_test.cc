#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "networks/detail/onnx_backbone.h"
#include "networks/tflite/detail/flat_table.h"
#include "networks/tflite/detail/model.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "support/tflite_writer.h"

namespace protocom {
namespace {

using protocom::testing::images;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;
using tflite::FlatTable;

/// Returns eight bytes at 4: a list of fields; a table at 12 with a number, a text and a field that is left out.
std::string small_table() {
  std::string bytes(40, '\0');
  const auto put = [&](size_t place, auto value) { std::memcpy(&bytes[place], &value, sizeof(value)); };
  put(0, uint32_t{16});
  put(4, uint16_t{10});  // bytes of the list
  put(6, uint16_t{12});  // of the table
  put(8, uint16_t{4});   // the number
  put(10, uint16_t{8});  // the text
  put(12, uint16_t{0});  // left out
  put(16, int32_t{12});
  put(20, int32_t{7});
  put(24, uint32_t{8});
  put(32, uint32_t{3});
  bytes.replace(36, 3, "abc");
  return bytes;
}

TEST(FlatTable, ReadsNumbersTextsAndWhatIsLeftOut) {
  const std::string bytes = small_table();
  const FlatTable table = FlatTable::root(bytes);
  EXPECT_EQ(table.number<int32_t>(0, 1), 7);
  EXPECT_EQ(table.text(1), "abc");
  EXPECT_EQ(table.number<int32_t>(2, 1), 1);
  EXPECT_EQ(table.number<int32_t>(9, 1), 1);
  EXPECT_TRUE(table.tables(2).empty());
  EXPECT_THROW(static_cast<void>(table.table(2)), Error);
}

TEST(FlatTable, AnOffsetThatLeadsElsewhereIsRefusedWhereverItStands) {
  const std::string whole = small_table();
  for (size_t place = 0; place + 4 <= whole.size(); place += 2) {
    for (const uint32_t value : {0xffffffffU, 0x7fffffffU, 0x80000000U, 0x0000ffffU, 1U}) {
      std::string bytes = whole;
      std::memcpy(&bytes[place], &value, sizeof(value));
      message_of([&] {
        const FlatTable table = FlatTable::root(bytes);
        static_cast<void>(table.number<int32_t>(0, 1));
        static_cast<void>(table.text(1));
        static_cast<void>(table.tables(1));
      });
    }
  }
  for (size_t length = 0; length < whole.size(); ++length)
    message_of([&] { static_cast<void>(FlatTable::root(whole.substr(0, length)).text(1)); });
}

TEST(FlatTable, AListThatManyPartsShareIsNotCopiedForEach) {
  std::string bytes = small_table();
  const uint32_t size = 1000;
  std::memcpy(&bytes[32], &size, sizeof(size));
  bytes.resize(36 + size, 'x');
  const FlatTable table = FlatTable::root(bytes);
  size_t copied = 0;
  const auto copy = [&] {
    for (; copied < 5000; ++copied) EXPECT_EQ(table.text(1).size(), size);
  };
  EXPECT_THAT(message_of(copy), HasSubstr("shared lists and names have more than 1048576 bytes together"));
  EXPECT_EQ(copied, 1048U);
}

TEST(Tflite, OperatorsGiveWhatTensorFlowDefinesThemToBe) {
  const at::NoGradGuard no_grad;
  const testing::SmallTflite network;
  const TempDir folder;
  std::ofstream(folder / "small.tflite", std::ios::binary) << network.bytes();
  EncoderFileOptions plain;
  plain.preprocessing = Preprocessing{8};
  const auto backbone = open_backbone(folder / "small.tflite", plain);
  const at::Tensor pictures = images(8);
  ASSERT_EQ(backbone->dim(), 2);
  EXPECT_LT((backbone->forward(pictures) - network.features(pictures)).abs().max().item<float>(), 1e-5F);
}

TEST(Tflite, FullyConnectedTakesMapsInTheOrderOfTensorFlow) {
  const at::NoGradGuard no_grad;
  const TempDir folder;
  const at::Tensor weights = at::arange(2 * 192, at::kFloat).view({2, 192}) / 100;
  std::vector<at::Tensor> features;
  for (const bool reshaped : {false, true}) {
    testing::TfliteWriter writer;
    const int32_t maps = writer.computed("images", {1, 8, 8, 3});
    const int32_t rows = writer.computed("rows", {1, 192});
    const int32_t scores = writer.computed("scores", {1, 2});
    if (reshaped) writer.node(22, {maps}, rows);
    writer.node(9, {reshaped ? rows : maps, writer.constant("weight", weights)}, scores);
    std::ofstream(folder / "dense.tflite", std::ios::binary) << writer.bytes(maps, scores);
    EncoderFileOptions plain;
    plain.preprocessing = Preprocessing{8};
    features.push_back(open_backbone(folder / "dense.tflite", plain)->forward(images(8)));
  }
  EXPECT_LT((features[0] - features[1]).abs().max().item<float>(), 1e-4F);
}

TEST(Tflite, AConstantThatManyTensorsShareTakesNoMemoryForEach) {
  testing::TfliteWriter writer;
  const int32_t images = writer.computed("images", {1, 8, 8, 3});
  writer.constant("zeros", at::zeros({4000}));
  for (int i = 0; i < 100; ++i) writer.repeat();
  const TempDir folder;
  std::ofstream(folder / "many.tflite", std::ios::binary) << writer.bytes(images, images);
  EXPECT_THAT(message_of([&] { tflite::read_model(folder / "many.tflite"); }), HasSubstr("more than"));
}

TEST(Tflite, ThousandsOfTensorsOfOneNameGetTheirNumbers) {
  testing::TfliteWriter writer;
  const int32_t images = writer.computed("images", {1, 8, 8, 3});
  for (int i = 0; i < 20000; ++i) writer.repeat();
  writer.node(19, {images}, 20000);
  const TempDir folder;
  std::ofstream(folder / "many.tflite", std::ios::binary) << writer.bytes(images, 20000);
  const onnx::Model model = tflite::read_model(folder / "many.tflite");
  EXPECT_EQ(model.outputs.at(0).name, "images'20000");
}

TEST(Tflite, WhatOperatorsShareTakesNoMemoryForEach) {
  const TempDir folder;
  const auto refusal = [&](const testing::TfliteWriter& writer) {
    std::ofstream(folder / "shared.tflite", std::ios::binary) << writer.bytes(0, 0);
    return message_of([&] { tflite::read_model(folder / "shared.tflite"); });
  };
  testing::TfliteWriter weights;
  const int32_t rows = weights.computed("images", {1, 8, 8, 3});
  const int32_t scores = weights.computed("scores", {1, 2000});
  const int32_t weight = weights.constant("weight", at::zeros({2000, 192}));
  for (int i = 0; i < 100; ++i) weights.node(9, {rows, weight}, scores);
  EXPECT_THAT(refusal(weights), HasSubstr("shared.tflite: its operators share weights"));
  testing::TfliteWriter inputs;
  const int32_t maps = inputs.computed("images", {1, 8, 8, 3});
  inputs.node(2, std::vector<int32_t>(1001, maps), maps);
  EXPECT_THAT(refusal(inputs), HasSubstr("an operator has 1001 inputs, expected at most 1000"));
  testing::TfliteWriter names;
  names.computed(std::string(20000, 'n'), {1, 8, 8, 3});
  EXPECT_THAT(refusal(names), HasSubstr("tensor 0 has a name of 20000 bytes, expected at most 16384"));
}

/// Its weights are rounded to half precision, and its images scaled to -1 to 1.
TEST(TfliteRealData, AQuantisedMobileNetGivesTheFeaturesOfTheTorchScriptMadeOfIt) {
  REQUIRE_REAL_DATA();
  const at::NoGradGuard no_grad;
  const auto path = *testing::real_data() / "mobilenet-v2-imagenet.tflite";
  onnx::Model model = tflite::read_model(path);
  for (auto& [name, constant] : model.constants) {
    if (constant.numel() > 1 && constant.is_floating_point()) constant = constant.to(at::kHalf).to(at::kFloat);
  }
  OnnxBackbone backbone(path, std::move(model), parse_preprocessing("half:size=224:resize=224"), "");
  EncoderFileOptions plain;
  plain.preprocessing = Preprocessing{224};
  const auto script = open_backbone(*testing::real_data() / "mobilenet-v2-imagenet.pt", plain);
  const at::Tensor expected = script->forward(images(224));
  const at::Tensor found = backbone.forward(images(224));
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LT((found - expected).abs().max().item<float>(), 1e-5F * expected.abs().max().item<float>());
}

TEST(TfliteRealData, AQuantisedFileSaysWhatImagesItTakes) {
  REQUIRE_REAL_DATA();
  const auto backbone = open_backbone(*testing::real_data() / "mobilenet-v2-imagenet.tflite", {});
  EXPECT_EQ(backbone->dim(), 1280);
  EXPECT_EQ(backbone->image_size(), 224);
  EXPECT_NEAR(backbone->preprocessing().mean[0], 0.5, 0.01);
  EXPECT_NEAR(backbone->preprocessing().std[0], 0.5, 0.01);
}

TEST(TfliteRealData, ADamagedFileIsReadOrRefusedInASentence) {
  REQUIRE_REAL_DATA();
  const std::string whole = read_file(*testing::real_data() / "mobilenet-v2-imagenet.tflite");
  const TempDir folder;
  const auto read = [&](const std::string& bytes) {
    std::ofstream(folder / "damaged.tflite", std::ios::binary) << bytes;
    return message_of([&] { open_backbone(folder / "damaged.tflite", {}); });
  };
  for (const size_t part : {9, 5, 3, 2})
    EXPECT_THAT(read(whole.substr(0, whole.size() / part)), HasSubstr("damaged.tflite"));
}

}  // namespace
}  // namespace protocom
