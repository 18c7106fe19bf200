// Recognizers as ONNX files with encoders of every family: what LibTorch runs is written out, ONNX files are kept.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "encoders/encoder.h"
#include "encoders/onnx_file.h"
#include "io/safetensors.h"
#include "networks/onnx/detail/plan.h"
#include "recognizer/export_loss.h"
#include "recognizer/export_onnx.h"
#include "recognizer/recognizer_support.h"
#include "support/golden.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/tflite_writer.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kSameProbability = 1e-4;

/// Seeds of photos that are classified together: 1, 2 and 7 of them.
const std::vector<std::vector<int>> kBatches = {{17}, {27, 5}, {18, 28, 38, 6, 19, 37, 29}};

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

  /// Expects the exported file, read as an encoder with the output `probabilities`, to answer like the recognizer, also
  /// with batches of odd sizes.
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
    for (const std::vector<int>& seeds : kBatches) {
      const std::vector<fs::path> photos = photos_of(seeds);
      const at::Tensor shares = tensor_of(back->features(pixels(photos)));
      for (size_t i = 0; i < photos.size(); ++i)
        expect_same(recognizer.classify(photos[i]), names, shares[static_cast<int64_t>(i)]);
    }
  }

  /// Expects the output `label`, by our own engine, to be the recognizer's answer.
  void expect_same_labels() const {
    Recognizer recognizer = Recognizer::open(path_);
    const std::vector<std::string> names = recognizer.class_names();
    const onnx::Model model = onnx::read_model(model_);
    for (const std::vector<int>& seeds : kBatches) {
      const std::vector<fs::path> photos = photos_of(seeds);
      const at::Tensor input = tensor_of(pixels(photos)).permute({0, 3, 1, 2}).to(at::kFloat).contiguous() / 255;
      const at::Tensor label = onnx::Plan(model, "label", input.slice(0, 0, 1), onnx::Plan::Use::kAny).run(input);
      ASSERT_EQ(label.sizes(), at::IntArrayRef({static_cast<int64_t>(photos.size())}));
      for (size_t i = 0; i < photos.size(); ++i)
        EXPECT_EQ(names.at(static_cast<size_t>(label[static_cast<int64_t>(i)].item<int64_t>())),
                  recognizer.classify(photos[i]).ranking.front().name);
    }
  }

  std::vector<fs::path> photos_of(const std::vector<int>& seeds) const {
    std::vector<fs::path> photos;
    for (const int seed : seeds) photos.push_back(photo(seed));
    return photos;
  }

  static void expect_same(const Answer& answer, const std::vector<std::string>& names, const at::Tensor& shares) {
    if (answer.ranking.front().probability > kSameProbability) {  // otherwise it is none of these, and all are 0
      EXPECT_EQ(names.at(static_cast<size_t>(shares.argmax().item<int64_t>())), answer.ranking.front().name) << shares;
    }
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

/// Reads a file of tests/golden: folders with encoders, by the name of their family.
json golden_folders(const char* file) {
  return json::parse(read_file(fs::path(PROTOCOM_GOLDEN).replace_filename(file)));
}

constexpr const char* kGoldenFolders[] = {"huggingface.json", "checkpoints.json"};

at::Tensor some_weights(const std::vector<int64_t>& sizes, double phase) {
  int64_t count = 1, inputs = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    count *= sizes[i];
    if (i > 0) inputs *= sizes[i];
  }
  return at::arange(count, at::kFloat).mul(1.7).add(phase).sin().mul(std::sqrt(2.0 / inputs)).view(sizes);
}

/// Returns two convolutions with normalisation, a residual sum and a pool, as PyTorch exports a CNN.
OnnxWriter onnx_cnn() {
  OnnxWriter made(17);
  made.input("pixels", {-1, 3, 16, 16});
  made.output("embedding", {-1, 24});
  made.raw("stem", some_weights({24, 3, 3, 3}, 0));
  made.raw("body", some_weights({24, 24, 3, 3}, 1));
  for (const char* name : {"scale", "shift", "mean", "variance"})
    made.raw(name, some_weights({24}, 2).mul(0.1).add(std::string(name) == "scale" || name[0] == 'v' ? 1 : 0));
  OnnxAttributes strided = whole_attribute("strides", {2, 2});
  strided.integers["pads"] = {1, 1, 1, 1};
  made.node("Conv", {"pixels", "stem"}, {"c0"}, strided);
  made.node("BatchNormalization", {"c0", "scale", "shift", "mean", "variance"}, {"n0"});
  made.node("Relu", {"n0"}, {"r0"});
  made.node("Conv", {"r0", "body"}, {"c1"}, whole_attribute("pads", {1, 1, 1, 1}));
  made.node("Add", {"c1", "r0"}, {"sum"});
  made.node("Relu", {"sum"}, {"maps"});
  made.node("GlobalAveragePool", {"maps"}, {"pooled"});
  made.node("Flatten", {"pooled"}, {"embedding"});
  return made;
}

/// Returns a layer of a transformer of 16 patches, with a class token and attention of two heads.
OnnxWriter onnx_transformer() {
  constexpr int64_t kWidth = 32;
  OnnxWriter made(17);
  made.input("pixels", {-1, 3, 16, 16});
  made.output("pooler_output", {-1, kWidth});
  made.raw("patches.weight", some_weights({kWidth, 3, 4, 4}, 0));
  made.raw("token", some_weights({1, 1, kWidth}, 1));
  made.raw("places", some_weights({1, 17, kWidth}, 2));
  made.raw("norm.scale", some_weights({kWidth}, 3).add(1));
  made.raw("norm.shift", some_weights({kWidth}, 4));
  for (const char* name : {"q", "k", "v", "out", "up", "down"}) made.raw(name, some_weights({kWidth, kWidth}, name[0]));
  made.raw("root", at::full({}, 0.25F));
  made.integers("flat", {0, kWidth, -1});
  made.integers("heads", {0, 0, 2, 16});
  made.integers("joined", {0, 0, kWidth});
  made.integers("first", {0});
  made.node("Conv", {"pixels", "patches.weight"}, {"grid"}, whole_attribute("strides", {4, 4}));
  made.node("Reshape", {"grid", "flat"}, {"rows"});
  made.node("Transpose", {"rows"}, {"tokens"}, whole_attribute("perm", {0, 2, 1}));
  made.node("Shape", {"tokens"}, {"sizes"});
  made.node("Gather", {"sizes", "first"}, {"n"});
  made.integers("one", {1});
  made.integers("width", {kWidth});
  OnnxAttributes along;
  along.whole["axis"] = 0;
  made.node("Concat", {"n", "one", "width"}, {"token.sizes"}, along);
  made.node("Expand", {"token", "token.sizes"}, {"token.each"});
  along.whole["axis"] = 1;
  made.node("Concat", {"token.each", "tokens"}, {"all"}, along);
  made.node("Add", {"all", "places"}, {"x"});
  along.whole["axis"] = -1;
  made.node("LayerNormalization", {"x", "norm.scale", "norm.shift"}, {"normed"}, along);
  for (const std::string name : {"q", "k", "v"}) {
    made.node("MatMul", {"normed", name}, {name + ".rows"});
    made.node("Reshape", {name + ".rows", "heads"}, {name + ".heads"});
    made.node(
        "Transpose", {name + ".heads"}, {name + ".by.head"},
        whole_attribute("perm", name == "k" ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3}));
  }
  made.node("MatMul", {"q.by.head", "k.by.head"}, {"products"});
  made.node("Mul", {"products", "root"}, {"scaled"});
  made.node("Softmax", {"scaled"}, {"attention"}, along);
  made.node("MatMul", {"attention", "v.by.head"}, {"seen"});
  made.node("Transpose", {"seen"}, {"seen.by.token"}, whole_attribute("perm", {0, 2, 1, 3}));
  made.node("Reshape", {"seen.by.token", "joined"}, {"seen.rows"});
  made.node("MatMul", {"seen.rows", "out"}, {"attended"});
  made.node("Add", {"x", "attended"}, {"y"});
  made.node("MatMul", {"y", "up"}, {"wide"});
  made.node("Tanh", {"wide"}, {"bent"});
  made.node("MatMul", {"bent", "down"}, {"narrow"});
  made.node("Add", {"y", "narrow"}, {"z"});
  made.integers("zero", {0});
  made.integers("end", {1});
  made.integers("second", {1});
  made.node("Slice", {"z", "zero", "end", "second"}, {"class"});
  made.node("Squeeze", {"class", "second"}, {"pooler_output"});
  return made;
}

/// Returns the factor of a made-up variance of batch normalisation. With the factor 1 the features of all images are
/// nearly equal in these families, so that rounding would decide the answers.
double variance_factor(const std::string& family, const std::string& name) {
  static const std::map<std::string, double> kFactors = {{"efficientnet", 0.4},
                                                         {"mobilenet-v1", 0.4},
                                                         {"mobilevit", 0.4},
                                                         {"timm-efficientnetv2-as-tensorflow", 0.6},
                                                         {"timm-mobilenetv3-as-tensorflow", 0.4},
                                                         {"timm-mobilevit", 0.4},
                                                         {"timm-tinynet", 0.4}};
  const auto found = kFactors.find(family);
  return found == kFactors.end() || !ends_with(name, "running_var") ? 1 : found->second;
}

/// Writes the encoder of a family with small made-up weights; returns what must be stated about its images.
std::string write_encoder(const std::string& family, const TempDir& folder) {
  const fs::path place = folder / "encoder";
  for (const char* file : kGoldenFolders) {
    const json all = golden_folders(file);
    if (!all.contains(family)) continue;
    const json& known = all.at(family);
    State state;
    for (const auto& [name, shape] : known.at("shapes").items())
      state.emplace_back(name, (made_up(name, shape.get<std::vector<int64_t>>()) * variance_factor(family, name))
                                   .to(at::kFloat)
                                   .contiguous());
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
  if (family == "onnx-cnn" || family == "onnx-transformer") {
    write_file(place, (family == "onnx-cnn" ? onnx_cnn() : onnx_transformer()).bytes());
    return "imagenet:size=16:resize=18";
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

/// Returns the golden folders, and the encoders that are not folders.
std::vector<std::string> encoder_families() {
  std::vector<std::string> families = {
      "onnx-cnn",
      "onnx-transformer",
      "tflite",
      "resnet12",
      "conv4",
      "vit:width=64:depth=2:patch=8:grid=4:mlp=2:registers=3:layer-scale=1:stretched=0",
      "resnet18 state-dict"};
  for (const char* file : kGoldenFolders) {
    const json all = golden_folders(file);
    for (const auto& [name, known] : all.items()) families.push_back(name);
  }
  return families;
}

std::string test_name(const std::string& family) {
  std::string name = family.substr(0, family.find(":depth"));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class EncoderFamily : public ExportedEncoder, public ::testing::WithParamInterface<std::string> {};

/// Uses our own reader, and ONNX Runtime if available: the test onnxruntime_exports provides it. The test onnx_checker
/// sets PROTOCOM_EXPORTS, a folder to keep the files in.
TEST_P(EncoderFamily, AnswersAsTheRecognizer) {
  const std::string images = write_encoder(GetParam(), folder_);
  make("encoder", images);
  EXPECT_THAT(exported().input, HasSubstr("image float32 [n, 3, "));
  EXPECT_EQ(onnx::read_outline(model_).opset, 17);
  expect_same_answers(Engine::kTorch);
  expect_same_labels();
  if (std::getenv("PROTOCOM_ONNXRUNTIME") != nullptr) expect_same_answers(Engine::kOnnxRuntime);
  if (const char* folder = std::getenv("PROTOCOM_EXPORTS"))
    fs::copy_file(model_, fs::path(folder) / (test_name(GetParam()) + ".onnx"));
}

INSTANTIATE_TEST_SUITE_P(All, EncoderFamily, ::testing::ValuesIn(encoder_families()),
                         [](const auto& one) { return test_name(one.param); });

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
