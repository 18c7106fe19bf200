#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "encoders/encoder.h"
#include "encoders/huggingface_images.h"
#include "io/files.h"
#include "io/safetensors.h"
#include "networks/backbone.h"
#include "networks/detail/huggingface_backbone.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using nlohmann::json;
using protocom::testing::images;
using protocom::testing::made_up;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

using State = std::map<std::string, at::Tensor>;

json huggingface_golden(const std::string& name) {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "huggingface.json");
  return json::parse(file).at(name);
}

State made_up_weights(const json& golden, const std::string& prefix) {
  State state;
  for (const auto& [name, shape] : golden.at("shapes").items())
    state[prefix + name] = made_up(name, shape.get<std::vector<int64_t>>()).to(at::kFloat).contiguous();
  return state;
}

json images_of(int64_t size) {
  return {{"do_normalize", true},
          {"image_mean", {0.485, 0.456, 0.406}},
          {"image_std", {0.229, 0.224, 0.225}},
          {"do_center_crop", true},
          {"crop_size", {{"height", size}, {"width", size}}},
          {"size", {{"shortest_edge", size + 4}}},
          {"resample", 3},
          {"rescale_factor", 1.0 / 255}};
}

void write_folder(const TempDir& folder, const json& config, const State& state, const json& stated) {
  write_file(folder / "config.json", config.dump());
  write_file(folder / "preprocessor_config.json", stated.dump());
  write_safetensors(folder / "model.safetensors", arrays_of({state.begin(), state.end()}), {{"format", "pt"}});
}

void expect_golden(const at::Tensor& features, const json& golden) {
  const auto rows = golden.at("features").get<std::vector<std::vector<float>>>();
  const auto step = golden.at("step").get<int64_t>();
  ASSERT_EQ(features.size(1), golden.at("dim").get<int64_t>());
  float largest = 0;
  float miss = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j) {
      const float found = features[static_cast<int64_t>(i)][static_cast<int64_t>(j) * step].item<float>();
      largest = std::max(largest, std::abs(rows[i][j]));
      miss = std::max(miss, std::abs(rows[i][j] - found));
    }
  }
  EXPECT_LT(miss, 1e-5F * largest);
}

class HuggingFace : public ::testing::TestWithParam<const char*> {};

TEST_P(HuggingFace, AFolderGivesTheFeaturesOfTransformers) {
  const json expected = huggingface_golden(GetParam());
  const auto size = expected.at("size").get<int64_t>();
  const TempDir folder;
  write_folder(folder, expected.at("config"), made_up_weights(expected, ""), images_of(size));
  const auto backbone = open_backbone(folder.path(), {});
  EXPECT_EQ(backbone->preprocessing().shorter_side(), size + 4);
  expect_golden(backbone->forward(images(size)), expected);
  const at::Tensor maps = backbone->forward_maps(images(size));
  EXPECT_EQ(maps.size(0), 2);
  EXPECT_EQ(maps.size(2), maps.size(3));
}

INSTANTIATE_TEST_SUITE_P(All, HuggingFace,
                         ::testing::Values("vit", "dinov2", "dinov2-resized", "dinov2_with_registers",
                                           "clip_vision_model", "clip-projected", "siglip_vision_model", "convnext",
                                           "convnextv2", "resnet-basic", "resnet-bottleneck", "mobilenet_v2"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Returns a part of tests/golden/checkpoints.py: folders of timm, of open_clip and of DINOv3.
json checkpoint_golden(const std::string& name) {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "checkpoints.json");
  return json::parse(file).at(name);
}

void write_checkpoint(const TempDir& folder, const json& golden) {
  const State state = made_up_weights(golden, "");
  const bool open_clip = golden.at("files").contains("open_clip_config.json");
  for (const auto& [file, text] : golden.at("files").items()) write_file(folder / file, text.dump());
  write_safetensors(folder / (open_clip ? "open_clip_model.safetensors" : "model.safetensors"),
                    arrays_of({state.begin(), state.end()}), {{"format", "pt"}});
}

class Checkpoint : public ::testing::TestWithParam<const char*> {};

TEST_P(Checkpoint, GivesTheFeaturesOfItsLibraryAsAFolderAndAsOneFile) {
  const json expected = checkpoint_golden(GetParam());
  const auto size = expected.at("size").get<int64_t>();
  const TempDir folder;
  write_checkpoint(folder, expected);
  const auto backbone = open_backbone(folder.path(), {});
  EXPECT_EQ(backbone->image_size(), size);
  EXPECT_EQ(backbone->preprocessing().mean.front(), 0.485);
  const at::Tensor features = backbone->forward(images(size));
  expect_golden(features, expected);
  EXPECT_EQ(backbone->forward_maps(images(size)).dim(), 4);
  const TempDir elsewhere;
  const auto file = backbone_as_one_file(folder.path(), {}, elsewhere.path());
  const auto again = open_backbone(file, {});
  EXPECT_TRUE(again->preprocessing() == backbone->preprocessing());
  EXPECT_TRUE(at::equal(again->forward(images(size)), features));
}

INSTANTIATE_TEST_SUITE_P(All, Checkpoint,
                         ::testing::Values("timm-clip", "timm-clip-quickgelu", "timm-siglip",
                                           "timm-siglip-of-patches-of-32", "timm-dinov2-registers", "timm-deit3",
                                           "timm-dinov3", "timm-dinov3-token", "timm-convnext", "timm-convnextv2-atto",
                                           "timm-dinov2-giant", "timm-beit", "timm-swin", "timm-tinynet",
                                           "timm-mobilenetv3-as-tensorflow", "timm-mobilenetv4",
                                           "timm-efficientnetv2-as-tensorflow", "timm-regnety", "timm-seresnext-d",
                                           "open_clip", "open_clip-quickgelu", "dinov3", "dinov3-gated-of-another-size",
                                           "beit", "data2vec", "deit-distilled", "dinov2-giant", "dinov3-convnext",
                                           "efficientnet", "metaclip-2", "mobilenet-v1", "regnet-x", "regnet-y", "swin",
                                           "timm-eva02", "timm-eva02-base", "timm-eva02-clip", "timm-deit-distilled",
                                           "timm-swinv2", "timm-hiera", "timm-mobilevit", "timm-ecaresnet",
                                           "open_clip-resnet", "open_clip-eva02", "swinv2", "hiera", "mobilevit"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(OpenClipFolder, OfAnotherTowerOrOtherImagesIsRefused) {
  json golden = checkpoint_golden("open_clip");
  json& config = golden["files"]["open_clip_config.json"];
  const auto refusal = [&] {
    const TempDir folder;
    write_checkpoint(folder, golden);
    return message_of([&] { open_backbone(folder.path(), {}); });
  };
  config["preprocess_cfg"]["resize_mode"] = "longest";
  EXPECT_THAT(refusal(), HasSubstr("resize_mode is 'longest', expected shortest or squash"));
  config["preprocess_cfg"] = {{"mean", 0.5}};
  EXPECT_THAT(refusal(), HasSubstr("'mean' is 0.5, expected three numbers"));
  config["preprocess_cfg"] = json::object();
  config["model_cfg"]["vision_cfg"]["timm_model_name"] = "fastvit_mci2";
  EXPECT_THAT(refusal(), HasSubstr("open_clip's image tower 'fastvit_mci2' is not supported: export it to ONNX"));
  config["model_cfg"]["vision_cfg"] = "large";
  EXPECT_THAT(refusal(), HasSubstr("missing vision_cfg"));
  golden["shapes"].erase("visual.class_embedding");
  config["model_cfg"]["vision_cfg"] = json::object();
  EXPECT_THAT(refusal(), HasSubstr("neither a vision transformer nor a ResNet: export it to ONNX"));
  const TempDir pickled;
  write_file(pickled / "open_clip_config.json", config.dump());
  EXPECT_THAT(message_of([&] { open_backbone(pickled.path(), {}); }),
              HasSubstr("has no open_clip_model.safetensors: make it of the pickle by safetensors.torch.save_file"));
}

TEST(CheckpointFolder, WithATensorThatChangesItsFeaturesIsRefused) {
  for (const auto& [name, extra] : {std::pair{"timm-clip", "blocks.0.attn.q_norm.weight"},
                                    {"timm-dinov3", "blocks.1.mlp.gate.weight"},
                                    {"timm-convnext", "head.pre_logits.fc.weight"},
                                    {"timm-mobilenetv4", "blocks.2.0.aa.weight"},
                                    {"timm-seresnext-d", "layer1.0.eca.conv.weight"},
                                    {"swin", "encoder.layers.0.blocks.0.attention.gate.weight"},
                                    {"timm-eva02", "blocks.0.attn.gate.weight"},
                                    {"hiera", "encoder.stages.0.layers.0.gate.weight"},
                                    {"mobilevit", "encoder.layer.2.gate.weight"},
                                    {"timm-deit-distilled", "blocks.0.ls1.gamma"},
                                    {"open_clip-resnet", "visual.layer1.0.se.fc1.weight"},
                                    {"beit", "encoder.layer.0.gate.weight"},
                                    {"open_clip", "visual.attn_pool.query"}}) {
    json golden = checkpoint_golden(name);
    golden["shapes"][extra] = {3, 3};
    const TempDir folder;
    write_checkpoint(folder, golden);
    EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }),
                ::testing::AllOf(HasSubstr("unknown tensor"), HasSubstr("export it to ONNX")))
        << name;
  }
}

TEST(HuggingFaceFolder, OfAClassifierOrOfTwoTowersIsTheImageTower) {
  const json vit = huggingface_golden("vit");
  const TempDir folder;
  State state = made_up_weights(vit, "vit.");
  state["classifier.weight"] = at::ones({5, 32});
  write_folder(folder, vit.at("config"), state, images_of(32));
  expect_golden(open_backbone(folder.path(), {})->forward(images(32)), vit);

  const json clip = huggingface_golden("clip-projected");
  const TempDir both;
  State towers = made_up_weights(clip, "");
  towers["text_model.embeddings.token_embedding.weight"] = at::ones({7, 32});
  towers["logit_scale"] = at::ones({});
  write_folder(both, {{"model_type", "clip"}, {"vision_config", clip.at("config")}}, towers, images_of(32));
  expect_golden(open_backbone(both.path(), {})->forward(images(32)), clip);
}

TEST(HuggingFaceFolder, AnUnsupportedConfigIsRefusedWithTheFamily) {
  const json vit = huggingface_golden("vit");
  const TempDir folder;
  const auto refused = [&](const json& config, const State& state, const json& stated) {
    write_folder(folder, config, state, stated);
    return message_of([&] { open_backbone(folder.path(), {}); });
  };
  const State whole = made_up_weights(vit, "");
  State more = whole;
  more["encoder.layer.0.gate.weight"] = at::ones({3});
  EXPECT_THAT(refused(vit.at("config"), more, images_of(32)),
              AllOf(HasSubstr("encoder.layer.0.gate.weight"), HasSubstr("ViT")));
  State fewer = whole;
  fewer.erase("encoder.layer.1.output.dense.bias");
  EXPECT_THAT(refused(vit.at("config"), fewer, images_of(32)),
              AllOf(HasSubstr("encoder.layer.1.output.dense.bias"), HasSubstr("ViT")));
  State misshaped = whole;
  misshaped["layernorm.weight"] = at::ones({31});
  EXPECT_THAT(refused(vit.at("config"), misshaped, images_of(32)), AllOf(HasSubstr("[31]"), HasSubstr("ViT")));
  State bad = whole;
  bad["layernorm.weight"] = at::full({32}, std::nan(""));
  EXPECT_THAT(refused(vit.at("config"), bad, images_of(32)), HasSubstr("is not finite"));
  EXPECT_THAT(refused({{"model_type", "cvt"}}, whole, images_of(32)),
              AllOf(HasSubstr("'cvt'"), HasSubstr("dinov2"), HasSubstr("export it to ONNX")));
  json heads = vit.at("config");
  heads["num_attention_heads"] = 5;
  EXPECT_THAT(refused(heads, whole, images_of(32)), HasSubstr("5 heads"));
  json scaled = images_of(32);
  scaled["rescale_factor"] = 1.0 / 127.5;
  EXPECT_THAT(refused(vit.at("config"), whole, scaled), HasSubstr("rescale_factor"));
}

TEST(CheckpointFolder, OfTimmWrappedByTransformersGivesTheSameFeatures) {
  json golden = checkpoint_golden("timm-deit3");
  State state;
  for (const auto& [name, tensor] : made_up_weights(golden, "")) state["timm_model." + name] = tensor;
  const TempDir folder;
  golden["files"]["config.json"]["model_type"] = "timm_wrapper";
  write_file(folder / "config.json", golden["files"]["config.json"].dump());
  write_safetensors(folder / "model.safetensors", arrays_of({state.begin(), state.end()}), {{"format", "pt"}});
  expect_golden(open_backbone(folder.path(), {})->forward(images(golden.at("size"))), golden);
}

TEST(CheckpointFolder, OfSizesThatWouldTakeMuchMemoryIsRefused) {
  const auto refusal = [](const char* name, const json& said,
                          const std::map<std::string, std::vector<int64_t>>& shapes) {
    json golden = checkpoint_golden(name);
    golden["files"]["config.json"].update(said);
    for (const auto& [tensor, shape] : shapes) golden["shapes"][tensor] = shape;
    const TempDir folder;
    write_checkpoint(folder, golden);
    return message_of([&] { open_backbone(folder.path(), {}); });
  };
  EXPECT_THAT(refusal("swinv2", {{"window_size", 1000}, {"image_size", 4096}}, {}), HasSubstr("expected at most 32"));
  EXPECT_THAT(refusal("swinv2", {{"pretrained_window_sizes", {1, 0}}}, {}), HasSubstr("made from 2 or more"));
  EXPECT_THAT(refusal("swinv2", {{"image_size", 96}}, {}), HasSubstr("expected 96x96, which config.json states"));
  const std::string inside = "encoder.layers.0.blocks.0.attention.self.continuous_position_bias_mlp.";
  EXPECT_THAT(refusal("swinv2", json::object(), {{inside + "0.weight", {8192, 2}}}),
              HasSubstr("expected at most 4096 rows"));
  EXPECT_THAT(refusal("hiera", {{"masked_unit_size", {12, 12}}}, {}), HasSubstr("units of 12x12 places do not fit"));
  EXPECT_THAT(refusal("hiera", {{"num_heads", {1, 2}}}, {}), HasSubstr("do not fit 4 stages"));
  EXPECT_THAT(refusal("hiera", {{"masked_unit_attention", "all"}}, {}), HasSubstr("a list of true and false"));
  EXPECT_THAT(refusal("mobilevit", {{"num_attention_heads", 5}}, {}), HasSubstr("5 heads do not divide"));
  json many = huggingface_golden("vit");
  many["config"]["patch_size"] = 1;
  many["shapes"]["embeddings.patch_embeddings.projection.weight"] = {32, 3, 1, 1};
  const TempDir folder;
  write_folder(folder, many.at("config"), made_up_weights(many, ""), images_of(256));
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("values for an image"))
      << "65,537 tokens would take 64 GiB";
}

TEST(CheckpointFolder, OfImagesThatItsPositionsDoNotFitIsRefused) {
  json golden = checkpoint_golden("beit");
  golden["files"]["preprocessor_config.json"]["size"] = {{"height", 40}, {"width", 40}};
  const TempDir folder;
  write_checkpoint(folder, golden);
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("have 25 patches, expected 16"));
  golden = checkpoint_golden("swin");
  golden["files"]["preprocessor_config.json"]["size"] = {{"height", 24}, {"width", 24}};
  write_checkpoint(folder, golden);
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("smaller than the windows of 4"));
}

TEST(CheckpointFolder, OfTablesOrConvolutionsOfOtherSizesIsRefused) {
  const auto refusal = [](const char* name, const char* tensor, const std::vector<int64_t>& shape) {
    json golden = checkpoint_golden(name);
    golden["shapes"][tensor] = shape;
    const TempDir folder;
    write_checkpoint(folder, golden);
    return message_of([&] { open_backbone(folder.path(), {}); });
  };
  const std::string bias = "relative_position_bias_table";
  EXPECT_THAT(refusal("beit", ("encoder.layer.0.attention.attention.relative_position_bias." + bias).c_str(), {50, 4}),
              HasSubstr("[50, 4], expected [(2 g - 1)^2 + 3"));
  EXPECT_THAT(refusal("swin", ("encoder.layers.0.blocks.0.attention.self." + bias).c_str(), {48, 2}),
              HasSubstr("[48, 2]"));
  EXPECT_THAT(refusal("beit", ("encoder.layer.0.attention.attention.relative_position_bias." + bias).c_str(),
                      {(2 * 256 - 1) * (2 * 256 - 1) + 3, 4}),
              HasSubstr("g at most 32"))
      << "a megabyte would become 34 GB";
  EXPECT_THAT(refusal("timm-tinynet", "blocks.1.0.conv_dw.weight", {1, 7, 3, 3}), HasSubstr("does not fit maps of"));
  EXPECT_THAT(refusal("regnet-y", "embedder.embedder.convolution.weight", {16, 3, 4, 4}),
              HasSubstr("does not fit maps of 3 channels"));
}

TEST(HuggingFaceFolder, WithoutAProcessorFileTakesWhatItsUserSays) {
  const json vit = huggingface_golden("vit");
  const TempDir folder;
  write_folder(folder, vit.at("config"), made_up_weights(vit, ""), images_of(32));
  std::filesystem::remove(folder / "preprocessor_config.json");
  EXPECT_THROW(open_backbone(folder.path(), {}), UnstatedPreprocessing);
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("preprocessor_config.json"));
  EncoderFileOptions asked;
  asked.preprocessing = parse_preprocessing("imagenet:size=32:squeeze");
  const auto backbone = open_backbone(folder.path(), asked);
  EXPECT_TRUE(backbone->preprocessing().squeeze);
  expect_golden(backbone->forward(images(32)), vit);
  const TempDir elsewhere;
  expect_golden(open_backbone(as_one_file(folder.path(), asked, elsewhere.path()), asked)->forward(images(32)), vit);
  write_file(folder / "processor_config.json", json{{"image_processor", images_of(32)}}.dump());
  EXPECT_EQ(open_backbone(folder.path(), {})->preprocessing().shorter_side(), 36) << "as transformers 5 writes it";
}

TEST(HuggingFaceFolder, OfSeveralPartsIsReadByItsIndex) {
  const json vit = huggingface_golden("vit");
  const TempDir folder;
  write_folder(folder, vit.at("config"), {}, images_of(32));
  std::filesystem::remove(folder / "model.safetensors");
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("model.safetensors.index.json"));
  State parts[2];
  json map;
  for (const auto& [name, tensor] : made_up_weights(vit, "")) {
    const size_t part = map.size() % 2;
    parts[part][name] = tensor;
    map[name] = part == 0 ? "one.safetensors" : "two.safetensors";
  }
  write_safetensors(folder / "one.safetensors", arrays_of({parts[0].begin(), parts[0].end()}), {});
  write_safetensors(folder / "two.safetensors", arrays_of({parts[1].begin(), parts[1].end()}), {});
  const auto write_index = [&] {
    write_file(folder / "model.safetensors.index.json", json{{"weight_map", map}}.dump());
  };
  write_index();
  expect_golden(open_backbone(folder.path(), {})->forward(images(32)), vit);
  map["layernorm.weight"] = "../elsewhere.safetensors";
  write_index();
  EXPECT_THAT(message_of([&] { open_backbone(folder.path(), {}); }), HasSubstr("../elsewhere.safetensors"));
}

TEST(HuggingFaceFolder, SaysWhatImagesItTakes) {
  const auto of = [](json stated) {
    stated["image_mean"] = stated["image_std"] = {0.5, 0.5, 0.5};
    return huggingface::preprocessing_of(stated);
  };
  EXPECT_TRUE(of({{"size", 224}}) == (Preprocessing{224, 0, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}));
  EXPECT_EQ(of({{"size", {{"height", 384}, {"width", 384}}}}).image_size, 384);
  const Preprocessing cropped = of({{"size", {{"shortest_edge", 256}}}, {"do_center_crop", true}, {"crop_size", 224}});
  EXPECT_EQ(cropped.image_size, 224);
  EXPECT_EQ(cropped.resize, 256);
  EXPECT_EQ(of({{"size", {{"shortest_edge", 224}}}, {"crop_pct", 0.875}}).resize, 256) << "ConvNeXt's";
  const Preprocessing large = of({{"size", {{"shortest_edge", 384}}}, {"crop_pct", 0.875}});
  EXPECT_EQ(large.shorter_side(), 384);
  EXPECT_TRUE(large.squeeze) << "ConvNeXt's large images";
  EXPECT_EQ(of({{"size", 224}, {"resample", 3}}).resampling, Resampling::kBicubic);
  EXPECT_EQ(of({{"size", 224}}).resampling, Resampling::kBilinear);
  EXPECT_THAT(message_of([&] { of({{"size", 224}, {"resample", 9}}); }), HasSubstr("found 9"));
  EXPECT_FALSE(huggingface::preprocessing_of({{"size", 224}, {"do_normalize", false}}).normalises());
  EXPECT_THAT(message_of([&] { of({{"size", {{"height", 32}, {"width", 64}}}}); }), HasSubstr("square"));
  EXPECT_THAT(message_of([&] { of({{"size", "large"}}); }), HasSubstr("'size'"));
  EXPECT_THAT(message_of([&] { of({{"size", 5000}}); }), HasSubstr("5000"));
  EXPECT_THAT(message_of([&] {
                of({{"patch_size", 16}, {"max_num_patches", 256}});
              }),
              ::testing::AllOf(HasSubstr("NaFlex"), HasSubstr("siglip2-base-patch16-224")));
}

TEST(HuggingFaceFolder, SaysWhetherImagesAreSqueezed) {
  const auto of = [](const json& size, const char* processor) {
    return huggingface::preprocessing_of(
        {{"size", size}, {"image_processor_type", processor}, {"do_normalize", false}});
  };
  EXPECT_TRUE(of({{"height", 32}, {"width", 32}}, "SiglipImageProcessor").squeeze);
  EXPECT_TRUE(of(32, "ViTFeatureExtractor").squeeze);
  EXPECT_FALSE(of(32, "CLIPFeatureExtractor").squeeze);
  EXPECT_FALSE(of({{"shortest_edge", 32}}, "ViTImageProcessor").squeeze);
  EXPECT_EQ(of(224, "ConvNextFeatureExtractor").resize, 256) << "its usual share";
  const Preprocessing deit = huggingface::preprocessing_of({{"size", 256},
                                                            {"feature_extractor_type", "DeiTFeatureExtractor"},
                                                            {"do_center_crop", true},
                                                            {"crop_size", 224},
                                                            {"do_normalize", false}});
  EXPECT_TRUE(deit.squeeze);
  EXPECT_EQ(deit.resize, 256);
  EXPECT_EQ(deit.image_size, 224);
}

TEST(HuggingFaceFolder, BecomesOneFileOfTheSameFeatures) {
  const json expected = huggingface_golden("dinov2");
  const TempDir folder;
  write_folder(folder, expected.at("config"), made_up_weights(expected, ""), images_of(28));
  const TempDir elsewhere;
  const auto file = as_one_file(folder.path(), {}, elsewhere.path());
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
  const auto backbone = open_backbone(file, {});
  EXPECT_TRUE(backbone->preprocessing() == open_backbone(folder.path(), {})->preprocessing());
  expect_golden(backbone->forward(images(28)), expected);
  EXPECT_EQ(as_one_file(file, {}, elsewhere.path()), file);
  EXPECT_THAT(message_of([&] { backbone->set_mode(BackboneMode::kTrain); }), HasSubstr("cannot be trained"));
}

}  // namespace
}  // namespace protocom
