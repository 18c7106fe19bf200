#include "networks/backbone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "io/files.h"
#include "io/memory_file.h"
#include "io/safetensors.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::HasSubstr;
using Weights = std::vector<std::pair<std::string, at::Tensor>>;

NetworkOptions small(const std::string& architecture) {
  NetworkOptions options;
  options.architecture = architecture;
  options.image_size = 32;
  return options;
}

/// Sets batch-norm statistics as after some training, so that errors in folding them show.
void randomise_statistics(const Backbone& backbone) {
  torch::NoGradGuard no_grad;
  for (auto [name, tensor] : backbone.state_dict()) {
    if (name.find("running_mean") != std::string::npos || name.find("bias") != std::string::npos)
      tensor.normal_(0, 0.2);
    if (name.find("running_var") != std::string::npos) tensor.uniform_(0.5, 2);
    if (name.find("bn") != std::string::npos && name.find(".weight") != std::string::npos) tensor.uniform_(0.5, 1.5);
  }
}

class Reference {
 public:
  explicit Reference(const Backbone& backbone) {
    for (const auto& [name, tensor] : backbone.state_dict()) state_[name] = tensor.detach();
  }

  at::Tensor conv_bn(const at::Tensor& input, const std::string& conv, const std::string& bn) const {
    const at::Tensor weight = state_.at(conv + ".weight");
    const auto bias = state_.find(conv + ".bias");
    const at::Tensor output =
        at::conv2d(input, weight, bias == state_.end() ? at::Tensor() : bias->second, 1, weight.size(2) / 2);
    return at::batch_norm(output, state_.at(bn + ".weight"), state_.at(bn + ".bias"), state_.at(bn + ".running_mean"),
                          state_.at(bn + ".running_var"), /*training=*/false, 0.1, 1e-5, false);
  }

  /// Computes the authors' block: three convolutions, the shortcut, an activation unless it is the last block,
  /// max-pooling.
  at::Tensor block(const at::Tensor& input, const std::string& layer, int number) const {
    at::Tensor x = at::leaky_relu(conv_bn(input, layer + ".conv1", layer + ".bn1"), 0.1);
    x = at::leaky_relu(conv_bn(x, layer + ".conv2", layer + ".bn2"), 0.1);
    x = conv_bn(x, layer + ".conv3", layer + ".bn3") + conv_bn(input, layer + ".downsample.0", layer + ".downsample.1");
    if (number < 4) x = at::leaky_relu(x, 0.1);
    return at::max_pool2d(x, 2, 2);
  }

 private:
  std::map<std::string, at::Tensor> state_;
};

/// Normalises by the defaults of NetworkOptions.
at::Tensor normalise(const at::Tensor& images) {
  const at::Tensor mean = at::tensor({120.396 / 255, 115.594 / 255, 104.540 / 255}, at::kFloat).reshape({1, 3, 1, 1});
  const at::Tensor std = at::tensor({70.682 / 255, 68.276 / 255, 72.545 / 255}, at::kFloat).reshape({1, 3, 1, 1});
  return (images - mean) / std;
}

Weights without(Weights state, const std::string& name) {
  state.erase(std::remove_if(state.begin(), state.end(), [&](const auto& entry) { return entry.first == name; }),
              state.end());
  return state;
}

void write_npz(const std::filesystem::path& path, const Weights& state) {
  NpzWriter writer(path);
  for (const auto& [name, tensor] : state) writer.add(name, array_of(tensor));
  writer.close();
}

template <typename Do>
std::string logged(const Do& work) {
  const testing::Logged heard;
  work();
  return heard.text();
}

at::Tensor some_images(int64_t size) {
  torch::manual_seed(3);
  return at::rand({3, 3, size, size});
}

TEST(Backbone, ResNet12HasTheNamesAndShapesOfThePythonCheckpoints) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, tensor] : make_backbone(small("resnet12"))->state_dict()) shapes[name] = tensor.sizes().vec();
  std::map<std::string, std::vector<int64_t>> expected;
  const int64_t channels[] = {3, 64, 128, 256, 512};
  for (int i = 1; i <= 4; ++i) {
    const std::string layer = "layer" + std::to_string(i) + ".";
    expected[layer + "conv1.weight"] = {channels[i], channels[i - 1], 3, 3};
    expected[layer + "conv2.weight"] = expected[layer + "conv3.weight"] = {channels[i], channels[i], 3, 3};
    expected[layer + "downsample.0.weight"] = {channels[i], channels[i - 1], 1, 1};
    for (const std::string bn : {"bn1", "bn2", "bn3", "downsample.1"}) {
      for (const std::string entry : {".weight", ".bias", ".running_mean", ".running_var"})
        expected[layer + bn + entry] = {channels[i]};
      expected[layer + bn + ".num_batches_tracked"] = {};
    }
  }
  EXPECT_EQ(shapes, expected);
}

TEST(Backbone, TheWideResNet12Has160And320And640Channels) {
  const auto backbone = make_backbone(small("resnet12-wide"));
  EXPECT_EQ(backbone->dim(), 640);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, tensor] : backbone->state_dict()) shapes[name] = tensor.sizes().vec();
  EXPECT_EQ(shapes["layer1.conv3.weight"], (std::vector<int64_t>{64, 64, 3, 3}));
  EXPECT_EQ(shapes["layer2.conv1.weight"], (std::vector<int64_t>{160, 64, 3, 3}));
  EXPECT_EQ(shapes["layer3.conv1.weight"], (std::vector<int64_t>{320, 160, 3, 3}));
  EXPECT_EQ(shapes["layer4.conv3.weight"], (std::vector<int64_t>{640, 640, 3, 3}));
  EXPECT_EQ(backbone->forward(some_images(32)).sizes(), (std::vector<int64_t>{3, 640}));
}

TEST(Backbone, ResNet12IsWhatItsLayersSayOneByOne) {
  torch::manual_seed(5);
  const auto backbone = make_backbone(small("resnet12"));
  randomise_statistics(*backbone);
  const Reference reference(*backbone);
  const at::Tensor images = some_images(32);
  at::Tensor expected = normalise(images);
  for (int i = 1; i <= 4; ++i) expected = reference.block(expected, "layer" + std::to_string(i), i);
  expected = expected.mean({2, 3});
  const at::Tensor features = backbone->forward(images);
  EXPECT_EQ(features.sizes(), (std::vector<int64_t>{3, 512}));
  EXPECT_LT((features - expected).abs().max().item<float>(), 1e-4 * expected.abs().max().item<float>());
  EXPECT_LT(features.min().item<float>(), 0) << "the last block has no activation";
}

TEST(Backbone, Conv4IsWhatItsLayersSayOneByOne) {
  torch::manual_seed(5);
  const auto backbone = make_backbone(small("conv4"));
  randomise_statistics(*backbone);
  const Reference reference(*backbone);
  at::Tensor expected = normalise(some_images(32));
  for (int i = 1; i <= 4; ++i) {
    const std::string layer = "layer" + std::to_string(i);
    expected = at::max_pool2d(at::relu(reference.conv_bn(expected, layer + ".conv", layer + ".bn")), 2, 2);
  }
  EXPECT_TRUE(at::allclose(backbone->forward(some_images(32)), expected.reshape({3, 64 * 2 * 2}), 1e-4, 1e-4));
}

TEST(Backbone, Conv4HasSixteenHundredFeaturesAtEightyFourPixels) {
  NetworkOptions options;
  options.architecture = "conv4";
  EXPECT_EQ(make_backbone(options)->dim(), 1600);
}

TEST(Backbone, IsInUseAtFirstAndRecordsGradientsOnlyInTraining) {
  const auto backbone = make_backbone(small("conv4"));
  EXPECT_FALSE(backbone->forward(some_images(32)).requires_grad());
  backbone->set_mode(BackboneMode::kTrain);
  EXPECT_TRUE(backbone->forward(some_images(32)).requires_grad());
  EXPECT_EQ(backbone->parameters().size(), 16U);  // four times conv weight and bias, batch-norm weight and bias
}

TEST(Backbone, TuningGivesTheFeaturesOfUseWithGradientsAndLeavesTheStatisticsAlone) {
  const auto backbone = make_backbone(small("resnet12"));
  randomise_statistics(*backbone);
  const at::Tensor in_use = backbone->forward(some_images(32));
  const auto statistics = [&] { return backbone->state_dict().back().second.clone(); };
  const at::Tensor before = statistics();
  backbone->set_mode(BackboneMode::kTune);
  const at::Tensor tuned = backbone->forward(some_images(32));
  EXPECT_TRUE(at::allclose(tuned.detach(), in_use, 1e-5, 1e-6));
  tuned.sum().backward();
  for (const at::Tensor& parameter : backbone->parameters()) EXPECT_TRUE(parameter.grad().defined());
  EXPECT_TRUE(statistics().equal(before));
}

TEST(Backbone, AnImageHasTheSameFeaturesAloneAndInABatch) {
  const auto backbone = make_backbone(small("resnet12"));
  randomise_statistics(*backbone);
  const at::Tensor images = some_images(32);
  const at::Tensor together = backbone->forward(images);
  EXPECT_TRUE(at::allclose(backbone->forward(images.slice(0, 1, 2)), together.slice(0, 1, 2), 1e-4, 1e-4));
}

TEST(Backbone, ComesBackFromItsFile) {
  const testing::TempDir folder;
  NetworkOptions options = small("resnet12");
  options.mean = {0.5, 0.4, 0.3};
  options.std = {0.2, 0.3, 0.4};
  const auto written = make_backbone(options);
  randomise_statistics(*written);
  write_backbone(folder / "b.npz", *written, options, {"pretrain", {{"epochs", 3}}, 7, {}});
  const auto read = read_backbone(folder / "b.npz", {});  // the file has its own options
  EXPECT_EQ(read->image_size(), 32);
  EXPECT_TRUE(at::equal(read->forward(some_images(32)), written->forward(some_images(32))));
  const ArtefactHeader header = read_any_header(folder / "b.npz");
  EXPECT_EQ(header.kind, "backbone");
  EXPECT_EQ(header.provenance.seed, 7U);
  EXPECT_EQ(header.details.at("architecture"), "resnet12");
}

TEST(Backbone, ReadsAStateDictWithAPrefixAndMoreEntriesFromNpzAndSafetensors) {
  const testing::TempDir folder;
  const auto source = make_backbone(small("conv4"));
  randomise_statistics(*source);
  Weights state = {{"module.fc.weight", at::ones({5, 256})}};
  for (const auto& [name, tensor] : source->state_dict()) state.emplace_back("module.encoder." + name, tensor);
  write_npz(folder / "s.npz", state);
  write_safetensors(folder / "s.safetensors", arrays_of(state), {});
  const at::Tensor expected = source->forward(some_images(32));
  EXPECT_TRUE(at::equal(read_backbone(folder / "s.npz", small("conv4"))->forward(some_images(32)), expected));
  EXPECT_TRUE(at::equal(read_backbone(folder / "s.safetensors", small("conv4"))->forward(some_images(32)), expected));
}

TEST(Backbone, NamesAMissingAndAMisshapedEntry) {
  const testing::TempDir folder;
  const auto source = make_backbone(small("resnet12"));
  write_npz(folder / "missing.npz", without(source->state_dict(), "layer3.bn2.running_var"));
  EXPECT_THAT(message_of([&] { read_backbone(folder / "missing.npz", small("resnet12")); }),
              HasSubstr("'layer3.bn2.running_var'"));

  Weights misshaped = without(source->state_dict(), "layer2.conv1.weight");
  misshaped.emplace_back("layer2.conv1.weight", at::zeros({160, 64, 3, 3}));
  write_npz(folder / "misshaped.npz", misshaped);
  EXPECT_THAT(message_of([&] { read_backbone(folder / "misshaped.npz", small("resnet12")); }),
              HasSubstr("entry 'layer2.conv1.weight' has shape [160, 64, 3, 3], expected [128, 64, 3, 3]"));
}

TEST(Backbone, RefusesAStateDictWithNaN) {
  const testing::TempDir folder;
  const auto source = make_backbone(small("conv4"));
  Weights state = without(source->state_dict(), "layer1.bn.bias");
  state.emplace_back("layer1.bn.bias", at::full({64}, std::numeric_limits<float>::quiet_NaN()));
  write_npz(folder / "nan.npz", state);
  EXPECT_THAT(message_of([&] { read_backbone(folder / "nan.npz", small("conv4")); }),
              HasSubstr("'layer1.bn.bias' is not finite"));
}

TEST(Backbone, RefusesFilesThatAreNoBackbone) {
  const testing::TempDir folder;
  std::ofstream(folder / "text") << "certainly not weights";
  EXPECT_THAT(message_of([&] { read_backbone(folder / "text", {}); }), HasSubstr("neither a protocom backbone"));
  EXPECT_THROW(read_backbone(folder / "nowhere.npz", {}), Error);
  write_npz(folder / "other.npz", {{"features", at::zeros({2, 3})}});
  EXPECT_THAT(message_of([&] { read_backbone(folder / "other.npz", {}); }),
              HasSubstr("is not a backbone: expected a state dict"));
  NpzWriter writer(folder / "features.npz");
  add_header(writer, make_header("features", 1, {}));
  writer.close();
  EXPECT_THAT(message_of([&] { read_backbone(folder / "features.npz", {}); }),
              HasSubstr("'features' file, expected 'backbone'"));
}

// Triton's users supply weights of torch.save where TorchScript is expected, and are told that a central directory is
// missing (triton-inference-server/server pull request 8807, pytorch/pytorch issue 31620); there are also questions
// about Keras' weights (microsoft/MMdnn issue 324), which Teachable Machine exports beside TensorFlow Lite.
TEST(Backbone, AModelOfAnotherProgramIsNamedWithWhatToSaveInstead) {
  const testing::TempDir folder;
  const std::vector<std::tuple<const char*, std::string, const char*>> models = {
      {"keras_model.h5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(90, '\0'), "a Keras model"},
      {"saved_model.pb", std::string("\x08\x01\x12\x05\x0a\x03\x63\x70\x75", 9), "a TensorFlow model"},
      {"old.pth", std::string("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 15), "torch.save"}};
  for (const auto& [name, bytes, kind] : models) {
    write_file(folder / name, bytes);
    EXPECT_THAT(message_of([&, at = folder / name] { read_backbone(at, {}); }),
                ::testing::AllOf(HasSubstr(name), HasSubstr(kind), HasSubstr("as ONNX")));
  }
}

TEST(Backbone, RunsATorchScriptFile) {
  const testing::TempDir folder;
  torch::jit::Module module("means");
  module.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  module.save((folder / "means.pt").string());
  NetworkOptions options;
  options.image_size = 20;
  const auto backbone = read_backbone(folder / "means.pt", options);
  EXPECT_EQ(backbone->dim(), 3);
  EXPECT_EQ(backbone->image_size(), 20);
  EXPECT_TRUE(at::allclose(backbone->forward(some_images(20)), some_images(20).mean({2, 3})));
}

/// Writes a TorchScript file of channel means that states `json` about its images.
std::filesystem::path means_that_state(const testing::TempDir& folder, const std::string& name,
                                       const std::string& json) {
  torch::jit::Module module("means");
  module.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  torch::jit::ExtraFilesMap extra;
  if (!json.empty()) extra["preprocessing.json"] = json;
  module.save((folder / name).string(), extra);
  return folder / name;
}

TEST(Backbone, ATorchScriptFileThatSaysWhatImagesItTakesIsBelieved) {
  const testing::TempDir folder;
  const auto stated =
      open_backbone(means_that_state(folder, "stated.pt",
                                     R"({"image_size": 20, "resize": 24, "mean": [0.5, 0.25, 0], "std": [0.5, 1, 2]})"),
                    {});
  EXPECT_EQ(stated->preprocessing().shorter_side(), 24);
  EXPECT_EQ(stated->image_size(), 20);
  const at::Tensor images = at::full({2, 3, 20, 20}, 1.0F);
  EXPECT_TRUE(at::allclose(stated->forward(images)[0], at::tensor({1.0F, 0.75F, 0.5F})));  // (1 - mean) / std
  EXPECT_THAT(message_of([&] { open_backbone(means_that_state(folder, "bad.pt", R"({"image_size": 0})"), {}); }),
              HasSubstr("images of 0 pixels"));

  torch::jit::Module sized("sized");
  sized.register_attribute("image_size", c10::IntType::get(), 28);
  sized.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  sized.save((folder / "sized.pt").string());
  EXPECT_EQ(open_backbone(folder / "sized.pt", {})->image_size(), 28);
}

// A recognizer passes its backbone as a file in memory, which is gone while the backbone lives.
TEST(Backbone, OfAFileInMemoryIsCalledByThatFilesName) {
  const testing::TempDir folder;
  const auto path = means_that_state(folder, "stated.pt", R"({"image_size": 20})");
  EncoderFileOptions asked;
  asked.preprocessing = parse_preprocessing("plain:size=24");
  std::unique_ptr<Backbone> backbone;
  const std::string log = logged([&] {
    MemoryFile copy("birds.pcm, its backbone");
    copy.append(read_file(path));
    backbone = open_backbone(copy.path(), asked);
  });
  EXPECT_THAT(log, HasSubstr("birds.pcm, its backbone states '"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr("/proc/")));
  EXPECT_THAT(message_of([&] { backbone->forward_maps(some_images(24)); }),
              ::testing::StartsWith("birds.pcm, its backbone has no feature maps"));

  const std::string refused = message_of([&] {
    MemoryFile copy("birds.pcm, its backbone");
    copy.append("certainly not weights");
    open_backbone(copy.path(), asked);
  });
  EXPECT_THAT(refused, HasSubstr("neither a protocom backbone"));
}

TEST(Backbone, WhatNobodySaysOfItsImagesIsNotGuessed) {
  const testing::TempDir folder;
  const auto path = means_that_state(folder, "silent.pt", "");
  EXPECT_THROW(open_backbone(path, {}), Error);
  EXPECT_THAT(message_of([&] { open_backbone(path, {}); }), HasSubstr("give --preprocess"));
  EncoderFileOptions asked;
  asked.known_size = 64;
  EXPECT_EQ(open_backbone(path, asked)->image_size(), 64);
  asked.preprocessing = parse_preprocessing("imagenet");
  EXPECT_EQ(open_backbone(path, asked)->image_size(), 224);
  EXPECT_TRUE(open_backbone(path, asked)->preprocessing() == *asked.preprocessing);

  torch::manual_seed(1);
  write_safetensors(folder / "bare.safetensors", arrays_of(make_backbone(small("conv4"))->state_dict()), {});
  asked = {};
  asked.architecture = "conv4";
  EXPECT_THAT(message_of([&] { open_backbone(folder / "bare.safetensors", asked); }), HasSubstr("bare state dict"));
  asked.preprocessing = parse_preprocessing("imagenet:size=64");
  const auto bare = open_backbone(folder / "bare.safetensors", asked);
  EXPECT_EQ(bare->image_size(), 64);
  EXPECT_EQ(bare->options()->mean, asked.preprocessing->mean);
}

TEST(Backbone, PlainIsNoNormalisationOfAStateDictEither) {
  const testing::TempDir folder;
  torch::manual_seed(1);
  NetworkOptions options = small("conv4");
  const auto written = make_backbone(options);
  write_safetensors(folder / "bare.safetensors", arrays_of(written->state_dict()), {});
  EncoderFileOptions asked;
  asked.architecture = "conv4";
  asked.preprocessing = parse_preprocessing("plain:size=32");
  const auto plain = open_backbone(folder / "bare.safetensors", asked);
  EXPECT_TRUE(plain->preprocessing() == *asked.preprocessing);
  const at::Tensor images = some_images(32);
  EXPECT_TRUE(at::allclose(plain->forward(normalise(images)), written->forward(images), 1e-4, 1e-4));
}

TEST(Backbone, WhatIsTakenOrIgnoredOfAStateDictsPreprocessingIsSaid) {
  const testing::TempDir folder;
  torch::manual_seed(1);
  Weights state = make_backbone(small("conv4"))->state_dict();
  write_safetensors(folder / "bare.safetensors", arrays_of(state), {});
  EncoderFileOptions asked;
  asked.architecture = "conv4";
  asked.known_size = 32;
  EXPECT_THAT(logged([&] { open_backbone(folder / "bare.safetensors", asked); }),
              HasSubstr("'shorter side 32, crop 32, mean 0.472"));
  for (const char* name : {"mean", "std"}) state.emplace_back(name, at::full({3}, 0.5F));
  write_safetensors(folder / "own.safetensors", arrays_of(state), {});
  asked.preprocessing = parse_preprocessing("imagenet:size=32");
  EXPECT_THAT(logged([&] { open_backbone(folder / "own.safetensors", asked); }),
              HasSubstr("mean 0.5 0.5 0.5, std 0.5 0.5 0.5', which is used"));
}

TEST(Backbone, ItsOwnFileKeepsItsPreprocessingAndSaysWhatItIgnores) {
  const testing::TempDir folder;
  torch::manual_seed(1);
  const NetworkOptions options = small("conv4");
  write_backbone(folder / "b.npz", *make_backbone(options), options, {});
  EncoderFileOptions asked;
  asked.preprocessing = parse_preprocessing("clip:size=64");
  const std::string heard = logged([&] { EXPECT_EQ(open_backbone(folder / "b.npz", asked)->image_size(), 32); });
  EXPECT_THAT(heard, HasSubstr("'shorter side 64, crop 64, mean 0.481"));
  EXPECT_THAT(heard, HasSubstr("is ignored"));
  EXPECT_EQ(logged([&] { open_backbone(folder / "b.npz", {}); }), "");
}

TEST(Backbone, AnOperatorOfANewerPyTorchIsNamedWithTheWayOut) {
  const testing::TempDir folder;
  torch::jit::Module module("newer");
  module.define("def forward(self, x):\n  return torch.relu(x).mean([2, 3])\n");
  module.save((folder / "newer.pt").string());
  std::string bytes = read_file(folder / "newer.pt");
  ASSERT_NE(bytes.find("torch.relu"), std::string::npos);
  bytes.replace(bytes.find("torch.relu"), 10, "torch.sdpa");
  std::ofstream(folder / "newer.pt", std::ios::binary) << bytes;
  EncoderFileOptions asked;
  asked.known_size = 32;
  EXPECT_THAT(message_of([&] { open_backbone(folder / "newer.pt", asked); }), HasSubstr("set_fused_attn(False)"));
}

TEST(Backbone, ItsFileKeepsThePreprocessing) {
  const testing::TempDir folder;
  torch::manual_seed(1);
  NetworkOptions options = small("conv4");
  options.set(parse_preprocessing("imagenet:size=56"));
  write_backbone(folder / "b.npz", *make_backbone(options), options, {});
  EXPECT_TRUE(open_backbone(folder / "b.npz", {})->preprocessing() == parse_preprocessing("imagenet:size=56"));
}

TEST(Backbone, TheMeanOfResNet12sMapsIsItsFeature) {
  torch::manual_seed(4);
  for (const std::string architecture : {"resnet12", "resnet12-wide"}) {
    const auto backbone = make_backbone(small(architecture));
    randomise_statistics(*backbone);
    const at::Tensor images = at::rand({2, 3, 32, 32});
    const at::Tensor maps = backbone->forward_maps(images);
    EXPECT_EQ(maps.sizes(), (std::vector<int64_t>{2, backbone->dim(), 2, 2}));
    EXPECT_TRUE(maps.is_contiguous());
    const at::Tensor by_hand = (maps.select(2, 0).sum(2) + maps.select(2, 1).sum(2)) / 4;
    EXPECT_TRUE(at::allclose(by_hand, backbone->forward(images), 1e-5, 1e-6)) << architecture;
  }
}

TEST(Backbone, TheValuesOfConv4sMapsAreItsFeature) {
  torch::manual_seed(4);
  const auto backbone = make_backbone(small("conv4"));
  randomise_statistics(*backbone);
  const at::Tensor images = at::rand({2, 3, 32, 32});
  const at::Tensor maps = backbone->forward_maps(images);
  EXPECT_EQ(maps.sizes(), (std::vector<int64_t>{2, 64, 2, 2}));
  EXPECT_TRUE(at::allclose(maps.reshape({2, 256}), backbone->forward(images), 1e-5, 1e-6));
}

TEST(Backbone, MapsHaveGradientsOnlyWhereFeaturesHaveThem) {
  const auto backbone = make_backbone(small("conv4"));
  EXPECT_FALSE(backbone->forward_maps(at::rand({1, 3, 32, 32})).requires_grad());
  backbone->set_mode(BackboneMode::kTune);
  EXPECT_TRUE(backbone->forward_maps(at::rand({1, 3, 32, 32})).requires_grad());
}

TEST(Backbone, ATorchScriptFileGivesTheMapsOfItsMethod) {
  const testing::TempDir folder;
  torch::jit::Module mapping("mapping");
  mapping.define(
      "def forward_maps(self, x):\n  return x[:, :, ::2, ::2]\ndef forward(self, x):\n  return "
      "self.forward_maps(x).mean([2, 3])\n");
  mapping.save((folder / "mapping.pt").string());
  const auto backbone = read_backbone(folder / "mapping.pt", small("resnet12"));
  const at::Tensor images = at::rand({2, 3, 32, 32});
  EXPECT_EQ(backbone->forward_maps(images).sizes(), (std::vector<int64_t>{2, 3, 16, 16}));
  EXPECT_TRUE(at::allclose(backbone->forward_maps(images).mean({2, 3}), backbone->forward(images)));
  torch::jit::Module without("without");
  without.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  without.save((folder / "without.pt").string());
  EXPECT_THAT(message_of([&] { read_backbone(folder / "without.pt", small("resnet12"))->forward_maps(images); }),
              HasSubstr("a method `forward_maps`"));
  torch::jit::Module flat("flat");
  flat.define("def forward_maps(self, x):\n  return x.mean([2, 3])\ndef forward(self, x):\n  return x.mean([2, 3])\n");
  flat.save((folder / "flat.pt").string());
  EXPECT_THAT(message_of([&] { read_backbone(folder / "flat.pt", small("resnet12"))->forward_maps(images); }),
              HasSubstr("gives Float [2, 3] as the maps of 2 images, expected float [n, c, h, w]"));
}

/// Writes a TorchScript file whose program has this body.
std::filesystem::path giving(const testing::TempDir& folder, const std::string& body) {
  torch::jit::Module module("giving");
  module.define("def forward(self, x):\n" + body);
  module.save((folder / "giving.pt").string());
  return folder / "giving.pt";
}

/// Returns the features of two images by a requested output, or none.
at::Tensor features_by(const std::filesystem::path& file, const std::string& output) {
  EncoderFileOptions asked;
  asked.known_size = 20;
  asked.output = output;
  return open_backbone(file, asked)->forward(some_images(20));
}

constexpr const char* kPair = "  return x, x.mean([2, 3])\n";
constexpr const char* kDictionary =
    "  return {'last_hidden_state': x.flatten(2), 'pooler_output': x.mean([2, 3]), 'logits': x.sum([2, 3])}\n";

// The outputs of transformers' models: a tuple or a dictionary of a map, a pooled vector and more.
TEST(Backbone, OfATorchScriptFileThatGivesSeveralTensorsTheFeatureIsFound) {
  const testing::TempDir folder;
  const at::Tensor means = some_images(20).mean({2, 3});
  EXPECT_TRUE(at::allclose(features_by(giving(folder, kPair), ""), means)) << "the only one that is a row an image";
  EXPECT_TRUE(at::allclose(features_by(giving(folder, kDictionary), ""), means)) << "by its name";
  EXPECT_TRUE(at::allclose(features_by(giving(folder, "  return [x.mean([2, 3])]\n"), ""), means));
  EXPECT_TRUE(at::allclose(features_by(giving(folder, "  return {'a': (x, x.mean([2, 3]))}\n"), ""), means));
}

TEST(Backbone, OfATorchScriptFileThatGivesSeveralTensorsOneIsAskedFor) {
  const testing::TempDir folder;
  const at::Tensor sums = some_images(20).sum({2, 3});
  EXPECT_TRUE(at::allclose(features_by(giving(folder, kDictionary), "logits"), sums));
  EXPECT_TRUE(at::allclose(features_by(giving(folder, "  return x.mean([2, 3]), (x, x.sum([2, 3]))\n"), "1.1"), sums));
  EXPECT_THAT(message_of([&] { features_by(giving(folder, kDictionary), "logit"); }),
              HasSubstr("unknown output 'logit': expected one of last_hidden_state [2, 3, 400], pooler_output [2, 3], "
                        "logits [2, 3]"));
  EXPECT_THAT(message_of([&] { features_by(giving(folder, "  return x.mean([2, 3]), x.sum([2, 3])\n"), ""); }),
              HasSubstr("choose the image's feature by --output, one of 0 [2, 3], 1 [2, 3]"));
  EXPECT_THAT(message_of([&] { features_by(giving(folder, "  return 'a'\n"), ""); }),
              HasSubstr("gives a String, expected a tensor"));
}

// A recognizer keeps one file, which must itself state the requested output.
TEST(Backbone, ATorchScriptFileIsWrittenAgainWithTheOutputThatWasAskedFor) {
  const testing::TempDir folder;
  const auto file = giving(folder, kDictionary);
  EncoderFileOptions asked;
  asked.output = "logits";
  const auto written = as_one_file(file, asked, folder.path());
  EXPECT_NE(written, file);
  NetworkOptions options;
  options.image_size = 20;
  const auto backbone = read_backbone(written, options);
  EXPECT_TRUE(at::allclose(backbone->forward(some_images(20)), some_images(20).sum({2, 3})));
  backbone->freeze();
  EXPECT_TRUE(at::allclose(backbone->forward(some_images(20)), some_images(20).sum({2, 3})));
  EXPECT_EQ(hash_encoder(file, asked), hash_encoder(file, asked));
  EXPECT_NE(hash_encoder(file, asked), hash_encoder(file, {}));
  EXPECT_EQ(as_one_file(file, {}, folder.path()), file);
}

/// Returns a convolution with a batch norm, and its maps, as a TorchScript file.
std::unique_ptr<Backbone> convolving(const std::filesystem::path& file) {
  torch::jit::Module module("convolving");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_parameter("weight", at::randn({6, 3, 3, 3}), false);
  module.register_parameter("scale", at::rand({6}) + 0.5, false);
  module.register_parameter("shift", at::randn({6}), false);
  module.register_buffer("mean", at::randn({6}));
  module.register_buffer("variance", at::rand({6}) + 0.5);
  module.define(
      "def forward_maps(self, x):\n"
      "  maps = torch.conv2d(x, self.weight, None, [1, 1], [1, 1])\n"
      "  return torch.relu(torch.batch_norm(maps, self.scale, self.shift, self.mean, self.variance, False, 0.1, 1e-5, "
      "True))\n"
      "def forward(self, x):\n"
      "  return self.forward_maps(x).mean([2, 3])\n");
  module.save(file.string());
  return read_backbone(file, small("resnet12"));
}

TEST(Backbone, AFrozenTorchScriptFileGivesTheSameFeaturesAndMaps) {
  const testing::TempDir folder;
  const auto backbone = convolving(folder / "convolving.pt");
  for (const int threads : {1, 2}) {
    const ThreadScope scope(threads);
    const auto frozen = read_backbone(folder / "convolving.pt", small("resnet12"));
    frozen->freeze();
    frozen->freeze();
    EXPECT_EQ(frozen->most_images_a_pass() < backbone->most_images_a_pass(), threads == 1);
    for (const int64_t n : {1, 2, 9}) {
      const at::Tensor images = at::rand({n, 3, 32, 32});
      EXPECT_TRUE(at::allclose(frozen->forward(images), backbone->forward(images), 1e-4, 1e-5)) << n;
      EXPECT_TRUE(at::allclose(frozen->forward_maps(images), backbone->forward_maps(images), 1e-4, 1e-5)) << n;
    }
  }
}

TEST(Backbone, AFrozenTorchScriptFileIsNeitherTrainedNorMoved) {
  const testing::TempDir folder;
  const auto frozen = convolving(folder / "convolving.pt");
  frozen->freeze();
  frozen->set_mode(BackboneMode::kUse);
  frozen->to(c10::Device("cpu"));
  EXPECT_THAT(message_of([&] { frozen->set_mode(BackboneMode::kTrain); }), HasSubstr("cannot be trained"));
  EXPECT_THAT(message_of([&] { frozen->to(c10::Device("cuda")); }), HasSubstr("cannot be moved"));
}

/// Writes a program as torch.jit.trace makes it from a module in training mode: eval() does not change its constants.
std::filesystem::path traced_in_training(const testing::TempDir& folder, const std::string& layer) {
  torch::jit::Module module("training");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(self, x):\n  return " + layer + ".flatten(1)\n");
  module.save((folder / "training.pt").string());
  return folder / "training.pt";
}

// eval() on a module traced in training mode does not repair it (pytorch/pytorch issues 71929 and 15216).
TEST(Backbone, ATorchScriptFileMadeInTrainingModeIsRefusedWithTheLineThatMendsIt) {
  const testing::TempDir folder;
  const auto refusal = [&](const std::string& layer) {
    const auto file = traced_in_training(folder, layer);
    return message_of([&] { read_backbone(file, small("resnet12")); });
  };
  constexpr const char* kMend = "torch.jit.trace(model.eval(), images).save('encoder.pt')";
  const std::string dropout = refusal("torch.dropout(x, 0.1, True)");
  EXPECT_THAT(dropout, HasSubstr("different features of the same image at each call (dropout)"));
  EXPECT_THAT(dropout, HasSubstr(kMend));
  const std::string norm = refusal("torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)");
  EXPECT_THAT(norm, HasSubstr("beside other images (batch norm)"));
  EXPECT_THAT(norm, HasSubstr(kMend));
  EXPECT_EQ(refusal("torch.dropout(x, 0.1, False)"), "(no Error)");
}

bool convolves_halves() {
  try {
    at::conv2d(at::ones({1, 3, 4, 4}, at::kHalf), at::ones({2, 3, 3, 3}, at::kHalf));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Reported in public: pytorch/pytorch issue 74625.
TEST(Backbone, AFailureOfATorchScriptFileIsToldByItsLastLine) {
  const testing::TempDir folder;
  const auto refusal = [&](const std::string& code) {
    torch::jit::Module module("failing");
    module.define("def forward(self, x):\n" + code);
    module.save((folder / "failing.pt").string());
    return message_of([&] { read_backbone(folder / "failing.pt", small("resnet12")); });
  };
  const std::string raised = refusal("  if x.size(1) == 3:\n    assert False, 'no such images'\n  return x\n");
  EXPECT_THAT(raised, HasSubstr("no such images"));
  EXPECT_THAT(raised, ::testing::Not(HasSubstr("Traceback")));
  // LibTorch 1.13 does not convolve half-precision numbers on a CPU, later versions do.
  EXPECT_THAT(refusal("  return torch.conv2d(x.half(), torch.ones([2, 3, 3, 3]).half()).flatten(1)\n"),
              HasSubstr(convolves_halves() ? "(no Error)" : "save it after model.float()"));
}

// Freezing may make a constant of something that is not one: here a count of the calls.
TEST(Backbone, ATorchScriptFileThatOptimisingWouldChangeStaysAsItIs) {
  const testing::TempDir folder;
  torch::jit::Module counting("counting");
  counting.register_attribute("training", c10::BoolType::get(), false);
  counting.register_buffer("calls", at::zeros({1}));
  counting.define("def forward(self, x):\n  self.calls += 1\n  return x.mean([2, 3]) + 0.001 * self.calls\n");
  counting.save((folder / "counting.pt").string());
  const auto backbone = read_backbone(folder / "counting.pt", small("resnet12"));
  backbone->freeze();
  backbone->set_mode(BackboneMode::kTune);
  backbone->set_mode(BackboneMode::kUse);
  const at::Tensor images = at::rand({2, 3, 32, 32});
  const at::Tensor first = backbone->forward(images);
  EXPECT_TRUE(at::allclose(first + 0.001, backbone->forward(images)));
}

TEST(Backbone, RefusesATorchScriptFileThatDoesNotGiveOneRowAnImage) {
  const testing::TempDir folder;
  torch::jit::Module module("identity");
  module.define("def forward(self, x):\n  return x\n");
  module.save((folder / "identity.pt").string());
  EXPECT_THAT(message_of([&] { read_backbone(folder / "identity.pt", {}); }),
              HasSubstr("expected float features [n, d]"));
}

TEST(Backbone, RefusesWhatCannotBeABackboneOrAnImage) {
  EXPECT_THROW(make_backbone(small("resnet20")), UsageError);
  NetworkOptions tiny = small("resnet12");
  tiny.image_size = 8;
  EXPECT_THROW(make_backbone(tiny), UsageError);
  NetworkOptions flat = small("resnet12");
  flat.std = {0.2, 0, 0.2};
  EXPECT_THROW(make_backbone(flat), UsageError);
  const auto backbone = make_backbone(small("conv4"));
  EXPECT_THAT(message_of([&] {
                backbone->forward(at::zeros({2, 32, 32, 3}));
              }),
              HasSubstr("found Float [2, 32, 32, 3]"));
}

// A header's image_size of 20000 would take 9 GB before any error.
TEST(Backbone, RefusesImagesThatNoMemoryHolds) {
  const testing::TempDir folder;
  NetworkOptions large = small("conv4");
  large.image_size = kLargestImage + 1;
  EXPECT_THROW(make_backbone(large), UsageError);
  NetworkOptions options = small("conv4");
  const auto backbone = make_backbone(options);
  options.image_size = 20000;
  write_backbone(folder / "large.npz", *backbone, options, {});
  EXPECT_THAT(message_of([&] { read_backbone(folder / "large.npz", {}); }),
              HasSubstr("large.npz: images of 20000x20000"));
  torch::jit::Module module("means");
  module.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  module.save((folder / "means.pt").string());
  EXPECT_THAT(message_of([&] { read_backbone(folder / "means.pt", options); }), HasSubstr("means.pt"));
  options.image_size = 32;
  options.mean = {0.5, std::numeric_limits<double>::quiet_NaN(), 0.5};
  EXPECT_THROW(make_backbone(options), UsageError);
}

}  // namespace
}  // namespace protocom
