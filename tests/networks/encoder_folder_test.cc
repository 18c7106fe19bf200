#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "encoders/encoder.h"
#include "io/artefact.h"
#include "io/files.h"
#include "io/safetensors.h"
#include "networks/backbone.h"
#include "networks/detail/architecture.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using protocom::testing::images;
using protocom::testing::made_up;
using protocom::testing::message_of;
using protocom::testing::OnnxWriter;
using protocom::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kGraphSide = 8;

EncoderFileOptions plain_images() {
  EncoderFileOptions asked;
  asked.preprocessing = Preprocessing{kGraphSide};
  return asked;
}

/// Writes means of the channels of a 1 x 1 convolution, whose weights are in weights.bin.
void write_graph_with_weights_outside(const fs::path& folder, float weight) {
  const at::Tensor weights = at::full({2, 3, 1, 1}, weight);
  write_file(folder / "weights.bin", std::string(static_cast<const char*>(weights.data_ptr()), weights.nbytes()));
  OnnxWriter writer;
  writer.input("images", {1, 3, kGraphSide, kGraphSide});
  writer.outside("weight", weights,
                 {{"location", "weights.bin"}, {"offset", "0"}, {"length", std::to_string(weights.nbytes())}});
  writer.node("Conv", {"images", "weight"}, {"maps"});
  writer.node("GlobalAveragePool", {"maps"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.output("features", {1, 2});
  write_file(folder / "encoder.onnx", writer.bytes());
}

TEST(EncoderFolder, IsTheOneFileInItThatMayBeAnEncoder) {
  const TempDir folder;
  EXPECT_THAT(message_of([&] { encoder_at(folder.path()); }), HasSubstr("has no encoder"));
  write_graph_with_weights_outside(folder.path(), 0.5F);
  write_file(folder / "space.npz", "a fitted space");
  write_file(folder / "README.md", "where it is from");
  EXPECT_EQ(encoder_at(folder.path()), folder / "encoder.onnx");
  EXPECT_EQ(space_beside(folder.path()), folder / "space.npz");
  EXPECT_EQ(open_backbone(folder.path(), plain_images())->dim(), 2);
  write_file(folder / "other.tflite", "another");
  EXPECT_THAT(message_of([&] { encoder_at(folder.path()); }), AllOf(HasSubstr("encoder.onnx, other.tflite")));
  EXPECT_EQ(encoder_at(folder / "encoder.onnx"), folder / "encoder.onnx");
  EXPECT_TRUE(space_beside(folder / "encoder.onnx").empty());
}

TEST(EncoderFolder, OfOnnxCommunityIsItsGraphWithWhatTheFolderSaysOfImages) {
  const TempDir folder;
  fs::create_directory(folder / "onnx");
  write_graph_with_weights_outside(folder / "onnx", 0.5F);
  fs::rename(folder / "onnx/encoder.onnx", folder / "onnx/model.onnx");
  write_file(folder / "config.json", R"({"model_type": "vit"})");
  EXPECT_THROW(open_backbone(folder.path(), {}), UnstatedPreprocessing);
  write_file(folder / "preprocessor_config.json",
             R"({"size": {"height": 8, "width": 8}, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})");
  EXPECT_EQ(encoder_at(folder.path()), folder / "onnx/model.onnx");
  const auto backbone = open_backbone(folder.path(), {});
  EXPECT_EQ(backbone->dim(), 2);
  EXPECT_EQ(backbone->image_size(), kGraphSide);
  EXPECT_TRUE(backbone->preprocessing().squeeze);
  EXPECT_EQ(backbone->preprocessing().mean.front(), 0.5);
  write_file(folder / "preprocessor_config.json", R"({"size": "large"})");
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("preprocessor_config.json"));
}

TEST(EncoderFile, OfSafetensorsWhoseLengthReadsAsAZipArchiveIsNone) {
  const TempDir folder;
  const fs::path file = folder / "encoder.safetensors";
  const auto state = make_module("conv4")->named_parameters();
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& item : state) tensors.emplace_back(item.key(), item.value().detach().contiguous());
  for (const auto& item : make_module("conv4")->named_buffers())
    if (item.value().is_floating_point()) tensors.emplace_back(item.key(), item.value().contiguous());
  constexpr size_t kReadsPk = 'P' + 256 * 'K';
  size_t padding = 1;
  for (int i = 0; i < 2; ++i) {  // once to see the length of the header without it
    write_safetensors(file, arrays_of(tensors), {{"note", std::string(padding, ' ')}});
    uint64_t length = 0;
    std::memcpy(&length, read_file(file).data(), sizeof(length));
    padding += kReadsPk - length;
  }
  ASSERT_EQ(read_file(file).substr(0, 2), "PK");
  EncoderFileOptions asked;
  asked.architecture = "conv4";
  asked.preprocessing = Preprocessing{84};
  EXPECT_GT(open_backbone(file, asked)->dim(), 0);
  EXPECT_EQ(as_one_file(file, asked, folder.path()), file);
  EXPECT_THAT(message_of([&] { read_any_header(file); }), ::testing::Not(HasSubstr("npz")));
}

TEST(EncoderHash, CoversTensorsOutsideOfAnOnnxFile) {
  const TempDir folder;
  const fs::path file = folder / "encoder.onnx";
  write_graph_with_weights_outside(folder.path(), 0.5F);
  const std::string before = hash_encoder(file, {});
  const std::string graph = hash_file(file);
  write_graph_with_weights_outside(folder.path(), 0.75F);
  EXPECT_EQ(hash_file(file), graph) << "the graph is the same";
  EXPECT_NE(hash_encoder(file, {}), before) << "the encoder is not";
  write_graph_with_weights_outside(folder.path(), 0.5F);
  EXPECT_EQ(hash_encoder(file, {}), before);
  EncoderFileOptions maps;
  maps.output = "maps";
  EXPECT_NE(hash_encoder(file, maps), before) << "another output gives other features";
  EXPECT_EQ(hash_encoder(folder.path(), {}), before) << "its folder stands for it";
  const TempDir elsewhere;
  EXPECT_EQ(hash_file(as_one_file(file, {}, elsewhere.path())), before) << "what a recognizer keeps";
}

TEST(EncoderHash, IsThatOfAFileThatNeedsNothingElse) {
  const TempDir folder;
  write_file(folder / "weights.npz", "anything but a folder or ONNX");
  NpzWriter writer(folder / "encoder.npz");
  writer.add("layer.weight", array_of(at::ones({2})));
  writer.close();
  EXPECT_EQ(hash_encoder(folder / "encoder.npz", {}), hash_file(folder / "encoder.npz"));
}

// timm's folders
// -------------------------------------------------------------------------------------------------------

json timm_config() {
  return {{"architecture", "resnet18"},
          {"pretrained_cfg",
           {{"input_size", {3, 32, 32}},
            {"interpolation", "bicubic"},
            {"crop_pct", 0.9},
            {"crop_mode", "center"},
            {"mean", {0.5, 0.5, 0.5}},
            {"std", {0.25, 0.25, 0.25}}}}};
}

void write_timm_folder(const TempDir& folder, const json& config) {
  std::vector<std::pair<std::string, at::Tensor>> state;
  for (const auto& item : make_module("resnet18")->named_parameters())
    state.emplace_back(item.key(), made_up(item.key(), item.value().sizes()).to(at::kFloat).contiguous());
  for (const auto& item : make_module("resnet18")->named_buffers()) {
    if (item.value().is_floating_point())
      state.emplace_back(item.key(), made_up(item.key(), item.value().sizes()).to(at::kFloat).contiguous());
  }
  write_safetensors(folder / "model.safetensors", arrays_of(state), {{"format", "pt"}});
  write_file(folder / "config.json", config.dump());
}

TEST(TimmFolder, SaysWhatImagesItsWeightsTake) {
  const TempDir folder;
  write_timm_folder(folder, timm_config());
  const auto backbone = open_backbone(folder.path(), {});
  EXPECT_EQ(backbone->options()->architecture, "resnet18");
  const Preprocessing expected = {32, 35, {0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}, Resampling::kBicubic};
  EXPECT_TRUE(backbone->preprocessing() == expected) << describe(backbone->preprocessing());

  EncoderFileOptions asked;
  asked.preprocessing = expected;
  const auto bare = open_backbone(folder / "model.safetensors", asked);
  EXPECT_TRUE(at::equal(backbone->forward(images(32)), bare->forward(images(32))));

  const TempDir elsewhere;
  const fs::path file = as_one_file(folder.path(), {}, elsewhere.path());
  EXPECT_TRUE(open_backbone(file, {})->preprocessing() == expected);
}

TEST(TimmFolder, OfAnotherNetworkIsRefusedByItsName) {
  const TempDir folder;
  write_timm_folder(folder, timm_config());
  json config = timm_config();
  config["pretrained_cfg"]["crop_mode"] = "border";
  write_file(folder / "config.json", config.dump());
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("border"));
  config["pretrained_cfg"]["crop_mode"] = "squash";
  write_file(folder / "config.json", config.dump());
  EXPECT_TRUE(open_backbone(folder.path(), {})->preprocessing().squeeze);
  config = timm_config();
  config["architecture"] = "mixer_b16";
  write_file(folder / "config.json", config.dump());
  write_safetensors(folder / "model.safetensors", arrays_of({{"stem.proj.weight", at::ones({2, 3, 4, 4})}}), {});
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("mixer_b16"));
}

}  // namespace
}  // namespace protocom
