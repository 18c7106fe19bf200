// Recognizers as ONNX files whose encoders are not ONNX: what LibTorch runs is written out.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "encoders/encoder.h"
#include "encoders/onnx_file.h"
#include "io/safetensors.h"
#include "recognizer/export_loss.h"
#include "recognizer/export_onnx.h"
#include "recognizer/recognizer_support.h"
#include "support/golden.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/tflite_writer.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kSameProbability = 1e-4;

/// A recognizer of three kinds of stripes.
class ExportedEncoder : public ::testing::Test {
 protected:
  /// Makes it with the encoder at `encoder`, with images as stated by the encoder unless `images` is given.
  void make(const std::string& encoder, const std::string& images = {}) {
    RecognizerParts parts;
    parts.backbone = folder_ / encoder;
    parts.preprocessing = images;
    parts.moments = "off";
    create_recognizer(path_, parts, {});
    Recognizer recognizer = Recognizer::open(path_);
    recognizer.enrol({request("oak", 1), request("elm", 2), request("ash", 3)});
    recognizer.calibrate({}, {});
  }

  EnrolRequest request(const std::string& name, int kind) const {
    EnrolRequest made;
    made.name = name;
    for (int i = 0; i < 4; ++i) made.images.push_back(photo(10 * kind + i).string());
    return made;
  }

  /// Returns a photo of the kind a with the noise b, for 10 a + b.
  fs::path photo(int seed) const {
    constexpr int64_t kPixels = 40;
    at::manual_seed(seed);
    const at::Tensor stripes = at::arange(kPixels * kPixels * 3, at::kFloat).mul(seed / 10).sin().mul(70).add(128);
    const at::Tensor bytes = stripes.add(at::randn_like(stripes).mul(40)).clamp(0, 255).to(at::kByte).contiguous();
    const auto* begin = bytes.data_ptr<uint8_t>();
    fs::path file = folder_ / fmt::format("{}.png", seed);
    write_file(file, encode_png({kPixels, kPixels, std::vector<uint8_t>(begin, begin + bytes.numel())}));
    return file;
  }

  OnnxExport exported(const OnnxExportOptions& options = {}) const {
    Recognizer recognizer = Recognizer::open(path_);
    return export_onnx(recognizer, model_, options);
  }

  /// Returns uint8 [n, h, w, 3].
  Array pixels(const std::vector<fs::path>& photos) const {
    const Preprocessing sizes = RecognizerFile(path_, FileUse::kRead).settings().preprocessing;
    std::vector<uint8_t> all;
    for (const fs::path& one : photos) {
      const Image square = decode_square_image(read_file(one), sizes);
      all.insert(all.end(), square.rgb.begin(), square.rgb.end());
    }
    return Array::of(all, {static_cast<int64_t>(photos.size()), sizes.image_size, sizes.image_size, 3});
  }

  /// Expects the exported file, read as an encoder with the output `probabilities`, to answer like the recognizer.
  void expect_same_answers(Engine engine) const {
    RecognizerOptions all;
    all.use = FileUse::kRead;
    all.top = 100;
    Recognizer recognizer = Recognizer::open(path_, all);
    const std::vector<std::string> names = recognizer.class_names();
    EncoderFileOptions asked;
    asked.output = "probabilities";
    asked.engine = engine;
    const auto back = open_encoder(model_, asked);
    for (const std::vector<int>& seeds : {std::vector<int>{17}, {27, 37, 5}, {18, 28, 38, 6, 19}}) {
      std::vector<fs::path> photos;
      for (const int seed : seeds) photos.push_back(photo(seed));
      const at::Tensor shares = tensor_of(back->features(pixels(photos)));
      for (size_t i = 0; i < photos.size(); ++i)
        expect_same(recognizer.classify(photos[i]), names, shares[static_cast<int64_t>(i)]);
    }
  }

  static void expect_same(const Answer& answer, const std::vector<std::string>& names, const at::Tensor& shares) {
    EXPECT_EQ(names.at(static_cast<size_t>(shares.argmax().item<int64_t>())), answer.ranking.front().name);
    EXPECT_NEAR(1 - shares.sum().item<double>(), *answer.none, kSameProbability);
    for (const RankedClass& one : answer.ranking) {
      const auto k = std::find(names.begin(), names.end(), one.name) - names.begin();
      EXPECT_NEAR(shares[k].item<double>(), one.probability, kSameProbability) << one.name;
    }
  }

  TempDir folder_;
  fs::path path_ = folder_ / "trees.pcm";
  fs::path model_ = folder_ / "out/trees.onnx";
};

using State = std::vector<std::pair<std::string, at::Tensor>>;

/// Makes up an encoder's weights such that no statistics are 0 or 1.
void make_up(Backbone& network) {
  for (const auto& [name, tensor] : network.state_dict()) {
    if (tensor.is_floating_point()) tensor.data().copy_(made_up(name, tensor.sizes()));
  }
}

/// Writes the encoder of a family with small made-up weights; returns what must be stated about its images.
std::string write_encoder(const std::string& family, const TempDir& folder) {
  const fs::path place = folder / "encoder";
  for (const char* file : {"huggingface.json", "checkpoints.json"}) {
    const json all = json::parse(read_file(fs::path(PROTOCOM_GOLDEN).replace_filename(file)));
    if (!all.contains(family)) continue;
    const json& known = all.at(family);
    State state;
    for (const auto& [name, shape] : known.at("shapes").items())
      state.emplace_back(name, made_up(name, shape.get<std::vector<int64_t>>()).to(at::kFloat).contiguous());
    fs::create_directory(place);
    const auto size = known.at("size").get<int64_t>();
    const json files = known.contains("files") ? known.at("files")
                                               : json{{"config.json", known.at("config")},
                                                      {"preprocessor_config.json",
                                                       {{"do_normalize", true},
                                                        {"image_mean", {0.485, 0.456, 0.406}},
                                                        {"image_std", {0.229, 0.224, 0.225}},
                                                        {"do_center_crop", true},
                                                        {"crop_size", {{"height", size}, {"width", size}}},
                                                        {"size", {{"shortest_edge", size + 4}}},
                                                        {"resample", 3},
                                                        {"rescale_factor", 1.0 / 255}}}};
    for (const auto& [name, text] : files.items()) write_file(place / name, text.dump());
    const char* tensors = files.contains("open_clip_config.json") ? "open_clip_model.safetensors" : "model.safetensors";
    write_safetensors(place / tensors, arrays_of(state), {{"format", "pt"}});
    return "";
  }
  if (family == "tflite") {
    write_file(place, SmallTflite().bytes());
    return "half:size=8:resize=10";
  }
  NetworkOptions options;
  options.architecture = family.substr(0, family.find(' '));
  options.image_size = 32;
  options.mean = {0.4, 0.5, 0.6};
  options.std = {0.2, 0.25, 0.3};
  const auto network = make_backbone(options);
  make_up(*network);
  if (family == options.architecture) {
    write_backbone(place, *network, options, {});
    return "";
  }
  write_safetensors(place, arrays_of(network->state_dict()), {});  // a state dict alone
  return "imagenet:size=32:resize=36";
}

class EncoderFamily : public ExportedEncoder, public ::testing::WithParamInterface<const char*> {};

/// Uses our own reader, and ONNX Runtime if available: the test onnxruntime_exports provides it.
TEST_P(EncoderFamily, AnswersAsTheRecognizer) {
  const std::string images = write_encoder(GetParam(), folder_);
  make("encoder", images);
  EXPECT_THAT(exported().input, HasSubstr("image float32 [n, 3, "));
  EXPECT_EQ(onnx::read_outline(model_).opset, 17);
  expect_same_answers(Engine::kTorch);
  if (std::getenv("PROTOCOM_ONNXRUNTIME") != nullptr) expect_same_answers(Engine::kOnnxRuntime);
}

INSTANTIATE_TEST_SUITE_P(
    All, EncoderFamily,
    ::testing::Values("resnet12", "conv4",
                      "vit:width=64:depth=2:patch=8:grid=4:mlp=2:registers=3:layer-scale=1:stretched=0",
                      "resnet18 state-dict", "tflite", "vit", "dinov2", "dinov2-resized", "dinov2_with_registers",
                      "clip_vision_model", "clip-projected", "siglip_vision_model", "convnext", "convnextv2",
                      "resnet-basic", "resnet-bottleneck", "mobilenet_v2", "timm-clip", "timm-clip-quickgelu",
                      "timm-siglip", "timm-siglip-of-patches-of-32", "timm-dinov2-registers", "timm-deit3",
                      "timm-dinov3", "timm-dinov3-token", "timm-convnext", "timm-convnextv2-atto", "open_clip",
                      "open_clip-quickgelu", "dinov3", "dinov3-gated-of-another-size"),
    [](const auto& one) {
      std::string name = std::string(one.param).substr(0, std::string(one.param).find(":depth"));
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST_F(ExportedEncoder, HasSmallerWeightsAndWholeNumbersAsOthersHave) {
  make("encoder", write_encoder("resnet12", folder_));
  OnnxExportOptions options;
  options.with_feature = options.uint8 = true;
  const int64_t whole = exported(options).bytes;
  options.half = true;
  const int64_t half = exported(options).bytes;
  options.half = false;
  options.int8 = true;
  const int64_t small = exported(options).bytes;
  EXPECT_LT(half, whole * 0.51);
  EXPECT_LT(small, whole * 0.3);
  options.external_data = true;
  EXPECT_LT(exported(options).bytes, small / 2);
  Recognizer recognizer = Recognizer::open(path_);
  options.uint8 = false;
  EXPECT_EQ(export_loss(recognizer, options).answers.asked, 12);
}

}  // namespace
}  // namespace protocom::testing
