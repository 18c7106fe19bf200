#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/safetensors.h"
#include "networks/backbone.h"
#include "networks/detail/architecture.h"
#include "networks/detail/vision_transformer.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::images;
using protocom::testing::made_up;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

/// Returns the content of the made-up state dict of this architecture.
StateDict made_up_state(const std::string& architecture, const std::string& prefix) {
  StateDict state;
  for (const auto& item : make_module(architecture)->named_parameters())
    state[prefix + item.key()] = made_up(item.key(), item.value().sizes()).to(at::kFloat).contiguous();
  for (const auto& item : make_module(architecture)->named_buffers()) {
    if (item.value().is_floating_point())
      state[prefix + item.key()] = made_up(item.key(), item.value().sizes()).to(at::kFloat).contiguous();
  }
  return state;
}

std::filesystem::path write(const TempDir& folder, const StateDict& state) {
  const auto path = folder / "encoder.npz";
  NpzWriter writer(path);
  for (const auto& [name, tensor] : state) writer.add(name, array_of(tensor));
  writer.close();
  return path;
}

EncoderFileOptions imagenet(int64_t size) {
  EncoderFileOptions asked;
  asked.preprocessing = {size, size, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
  return asked;
}

VisionTransformerShape tiny(int64_t patch, int64_t grid) {
  VisionTransformerShape shape;
  shape.width = 128;
  shape.depth = 3;
  shape.patch = patch;
  shape.grid = grid;
  return shape;
}

VisionTransformerShape tiny_dinov2(int64_t registers) {
  VisionTransformerShape shape = tiny(14, 5);
  shape.layer_scale = true;
  shape.registers = registers;
  shape.stretched = registers == 0;
  return shape;
}

struct Published {
  const char* name;  ///< in encoders.json
  std::string architecture;
  bool mask_token = false;
};

class PublishedEncoder : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedEncoder, GivesTheFeaturesOfItsPythonCode) {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "encoders.json");
  const auto golden = nlohmann::json::parse(file).at(GetParam().name);
  StateDict state = made_up_state(GetParam().architecture, "encoder.");
  if (GetParam().mask_token) state["encoder.mask_token"] = at::zeros({1, 128});
  state["encoder.fc.weight"] = at::ones({3, 3});  // the classifier's, left out
  const TempDir folder;
  const auto size = golden.at("size").get<int64_t>();
  const auto backbone = open_backbone(write(folder, state), imagenet(size));
  EXPECT_EQ(backbone->options()->architecture, GetParam().architecture);
  EXPECT_EQ(backbone->dim(), golden.at("dim").get<int64_t>());

  const at::Tensor features = backbone->forward(images(size));
  const auto rows = golden.at("every_16th").get<std::vector<std::vector<float>>>();
  double largest = 0;
  double miss = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j) {
      const float found = features[static_cast<int64_t>(i)][static_cast<int64_t>(16 * j)].item<float>();
      largest = std::max<double>(largest, std::abs(rows[i][j]));
      miss = std::max<double>(miss, std::abs(rows[i][j] - found));
    }
  }
  EXPECT_EQ(rows.front().size(), static_cast<size_t>(backbone->dim() / 16));
  EXPECT_LT(miss, 1e-4 * largest);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedEncoder,
                         ::testing::Values(Published{"resnet18", "resnet18"}, Published{"resnet34", "resnet34"},
                                           Published{"resnet50", "resnet50"},
                                           Published{"dinov2", to_string(tiny_dinov2(0)), true},
                                           Published{"dinov2-stretched", to_string(tiny_dinov2(0)), true},
                                           Published{"dinov2-registers", to_string(tiny_dinov2(4)), true},
                                           Published{"timm", to_string(tiny(16, 4))},
                                           Published{"timm-resized", to_string(tiny(16, 4))}),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PublishedEncoders, ComeBackFromOurOwnFile) {
  const TempDir folder;
  const auto backbone = open_backbone(write(folder, made_up_state(to_string(tiny_dinov2(0)), "")), imagenet(42));
  NetworkOptions options = *backbone->options();
  options.architecture = to_string(tiny_dinov2(0));  // there was no mask_token
  write_backbone(folder / "ours.npz", *backbone, options, Provenance());
  const auto again = read_backbone(folder / "ours.npz", NetworkOptions());
  EXPECT_EQ(again->options()->architecture, options.architecture);
  EXPECT_EQ(again->preprocessing().mean, backbone->preprocessing().mean);
}

TEST(PublishedEncoders, TheMapsOfATransformerAreItsPatchesAndOfAResNetAverageToTheFeature) {
  const TempDir folder;
  const auto transformer = open_backbone(write(folder, made_up_state(to_string(tiny(16, 4)), "")), imagenet(48));
  EXPECT_EQ(transformer->forward_maps(images(48)).sizes(), (std::vector<int64_t>{2, 128, 3, 3}));
  const auto resnet = open_backbone(write(folder, made_up_state("resnet18", "")), imagenet(64));
  const at::Tensor maps = resnet->forward_maps(images(64));
  EXPECT_EQ(maps.sizes(), (std::vector<int64_t>{2, 512, 2, 2}));
  const at::Tensor features = resnet->forward(images(64));
  EXPECT_LT((maps.mean({2, 3}) - features).abs().max().item<float>(), 1e-5 * features.abs().max().item<float>());
}

TEST(PublishedEncoders, VariantsThatWouldGiveOtherFeaturesAreRefused) {
  const TempDir folder;
  StateDict state = made_up_state(to_string(tiny(16, 4)), "");
  state["norm_pre.weight"] = at::ones({128});
  const auto path = write(folder, state);
  EXPECT_THAT(message_of([&] { open_backbone(path, imagenet(64)); }), HasSubstr("norm_pre.weight"));
}

TEST(PublishedEncoders, ABlockWithMoreInItIsRefused) {
  for (const char* more : {"layer1.0.se.fc1.weight", "layer3.5.se.conv.weight", "layer2.0.downsample.2.weight"}) {
    StateDict state = made_up_state("resnet50", "net.");
    state[std::string("net.") + more] = at::ones({8});
    EXPECT_THAT(message_of([&] { published_architecture(state); }), HasSubstr(more));
  }
  StateDict counted = made_up_state("resnet18", "");
  counted["layer1.0.bn1.num_batches_tracked"] = at::zeros({}, at::kLong);
  EXPECT_EQ(published_architecture(counted), "resnet18");
}

TEST(PublishedEncoders, NamesThatAreNotReadAreToldWithAWayOut) {
  const StateDict torchvision = {{"net.conv_proj.weight", at::ones({8, 3, 16, 16})}};
  EXPECT_THAT(message_of([&] { published_architecture(torchvision); }), HasSubstr("torchvision"));
  const StateDict clip = {{"visual.transformer.resblocks.0.ln_1.weight", at::ones({8})}};
  EXPECT_THAT(message_of([&] { published_architecture(clip); }), HasSubstr("Hugging Face's folder"));
  StateDict without_token = made_up_state(to_string(tiny(16, 4)), "");
  without_token["pos_embed"] = at::zeros({1, 16, 128});
  EXPECT_THAT(message_of([&] { published_architecture(without_token); }), HasSubstr("export it to ONNX"));
}

TEST(PublishedEncoders, EmptyTensorsAreRefused) {
  for (const auto& [name, shape] : {std::pair{"patch_embed.proj.weight", std::vector<int64_t>{0, 3, 16, 16}},
                                    std::pair{"pos_embed", std::vector<int64_t>{1, 0, 128}},
                                    std::pair{"pos_embed", std::vector<int64_t>{1, 1, 128}}}) {
    StateDict state = made_up_state(to_string(tiny(16, 4)), "");
    state[name] = at::zeros(shape);
    EXPECT_THAT(message_of([&] { published_architecture(state); }), HasSubstr("expected at least 1")) << name;
  }
}

TEST(PublishedEncoders, ImagesThatAreNoMultipleOfThePatchAreRefused) {
  const TempDir folder;
  const auto path = write(folder, made_up_state(to_string(tiny(16, 4)), ""));
  const auto backbone = open_backbone(path, imagenet(64));
  EXPECT_THAT(message_of([&] { backbone->forward(images(50)); }), HasSubstr("patches of 16"));
}

TEST(PublishedEncoders, AskForTheirPreprocessing) {
  const TempDir folder;
  const auto path = write(folder, made_up_state("resnet18", ""));
  EXPECT_THAT(message_of([&] { open_backbone(path, EncoderFileOptions()); }), HasSubstr("--preprocess"));
  EncoderFileOptions of_a_pack;
  of_a_pack.known_size = 64;
  EXPECT_THAT(message_of([&] { open_backbone(path, of_a_pack); }), HasSubstr("--preprocess"))
      << "a size is no normalisation";
  StateDict normalised = made_up_state("resnet18", "");
  for (const char* name : {"mean", "std"}) normalised[name] = at::full({3}, 0.5F);
  EXPECT_EQ(open_backbone(write(folder, normalised), of_a_pack)->options()->mean, std::vector<double>(3, 0.5));
}

TEST(PublishedEncoders, AFileWhoseNameOfItselfIsLargerThanItsTensorsIsRefusedBeforeItIsMade) {
  StateDict state = made_up_state(to_string(tiny(16, 4)), "");
  VisionTransformerShape larger = tiny(16, 4);
  larger.depth = 60;
  EXPECT_THAT(message_of([&] { check_fits(to_string(larger), state); }), HasSubstr("depth=3"));
  EXPECT_NO_THROW(check_fits(to_string(tiny(16, 4)), state));
}

TEST(VisionTransformerText, ComesBackAndRefusesWhatItIsNot) {
  const std::string text = to_string(tiny_dinov2(4));
  EXPECT_EQ(to_string(parse_vision_transformer(text)), text);
  for (const std::string& wrong : {std::string("vit"), text + ":x=1", std::string("vit:width=100"), std::string()})
    EXPECT_THROW(parse_vision_transformer(wrong), UsageError) << wrong;
  VisionTransformerShape odd = tiny(16, 4);
  odd.width = 100;
  EXPECT_THROW(parse_vision_transformer(to_string(odd)), UsageError);
}

}  // namespace
}  // namespace protocom
