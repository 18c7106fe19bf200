// Recognizers as ONNX files, read back by protocom itself.
#include "recognizer/export_onnx.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/script.h>
#include <unistd.h>

#include <fstream>

#include "encoders/onnx_file.h"
#include "encoders/onnx_kept_graph.h"
#include "encoders/onnx_stored_weights.h"
#include "io/json.h"
#include "io/unfinished.h"
#include "networks/onnx/detail/plan.h"
#include "recognizer/export_loss.h"
#include "recognizer/recognizer_support.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr double kSameAnswer = 1e-4;
constexpr int64_t kEncoderSide = 8, kEncoderDim = 6;

size_t count_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Returns an encoder whose values have the same names as those of an export.
OnnxWriter conv_encoder(int64_t opset) {
  OnnxWriter made(opset);
  made.input("image", {-1, 3, kEncoderSide, kEncoderSide});
  made.output("probabilities", {-1, kEncoderDim, 3, 3});
  made.raw("features", at::arange(kEncoderDim * 27, at::kFloat).cos().view({kEncoderDim, 3, 3, 3}));
  made.node("Conv", {"image", "features"}, {"label"}, whole_attribute("strides", {2, 2}));
  made.node("Relu", {"label"}, {"probabilities"});
  made.metadata("license", "Apache-2.0");
  return made;
}

/// A recognizer of three grey levels, with an ONNX encoder.
class OnnxOfRecognizer : public ::testing::Test {
 protected:
  void make(const OnnxWriter& encoder) {
    write_file(folder_ / "encoder.onnx", encoder.bytes());
    RecognizerParts parts;
    parts.backbone = folder_ / "encoder.onnx";
    parts.preprocessing = "half:size=8:resize=10";
    parts.moments = "off";
    create_recognizer(path_, parts, {});
    Recognizer recognizer = Recognizer::open(path_);
    recognizer.enrol({request("oak", 1), request("elm", 2), request("ash tree", 3)});
    recognizer.calibrate({}, {});
  }

  EnrolRequest request(const std::string& name, int seed) const {
    EnrolRequest made;
    made.name = name;
    for (int i = 0; i < 4; ++i) made.images.push_back(photo(10 * seed + i).string());
    return made;
  }

  /// Returns stripes of a kind, with noise.
  fs::path photo(int seed) const {
    constexpr int64_t kPixels = 12;
    at::manual_seed(seed);
    const at::Tensor stripes = at::arange(kPixels * kPixels * 3, at::kFloat).mul(seed / 10).sin().mul(70).add(128);
    const at::Tensor bytes = stripes.add(at::randn_like(stripes).mul(40)).clamp(0, 255).to(at::kByte).contiguous();
    const auto* begin = bytes.data_ptr<uint8_t>();
    fs::path file = folder_ / fmt::format("{}.png", seed);
    write_file(file, encode_png({kPixels, kPixels, std::vector<uint8_t>(begin, begin + bytes.numel())}));
    return file;
  }

  Recognizer open(const std::string& method = {}) const {
    RecognizerOptions options;
    options.method = method;
    options.use = FileUse::kRead;
    options.top = 100;
    return Recognizer::open(path_, options);
  }
  OnnxExport exported(const OnnxExportOptions& options = {}) const {
    Recognizer recognizer = open();
    return export_onnx(recognizer, model_, options);
  }

  /// Returns the pixels of an image as the encoder takes them, uint8 [1, h, w, 3].
  Array pixels(const fs::path& image) const {
    Preprocessing sizes = RecognizerFile(path_, FileUse::kRead).settings().preprocessing;
    const Image square = decode_square_image(read_file(image), sizes);
    return Array::of(square.rgb, {1, kEncoderSide, kEncoderSide, 3});
  }

  /// Returns an output of the exported file, [images, ...].
  at::Tensor computed(const std::string& output, const at::Tensor& input) const {
    const onnx::Model model = onnx::read_model(model_);
    return onnx::Plan(model, output, input.slice(0, 0, 1), onnx::Plan::Use::kAny).run(input);
  }

  /// Expects the same answers from the exported file and the recognizer for photos that it has not seen.
  void expect_same_answers(const at::Tensor& input, const std::vector<fs::path>& photos) const {
    Recognizer recognizer = open();
    const std::vector<std::string> names = recognizer.class_names();
    const at::Tensor shares = computed("probabilities", input), none = computed("none_of_these", input),
                     familiar = computed("familiarity", input), label = computed("label", input);
    ASSERT_EQ(shares.sizes(),
              at::IntArrayRef({static_cast<int64_t>(photos.size()), static_cast<int64_t>(names.size())}));
    ASSERT_EQ(none.dim(), 1);
    for (int64_t i = 0; i < shares.size(0); ++i) {
      const Answer answer = recognizer.classify(photos[static_cast<size_t>(i)]);
      EXPECT_EQ(names.at(static_cast<size_t>(label[i].item<int64_t>())), answer.ranking.front().name);
      EXPECT_NEAR(none[i].item<double>(), *answer.none, kSameAnswer);
      EXPECT_NEAR(familiar[i].item<double>(), answer.familiarity,
                  kSameAnswer * std::max(1.0, std::abs(answer.familiarity)));
      for (const RankedClass& one : answer.ranking) {
        const auto k = std::find(names.begin(), names.end(), one.name) - names.begin();
        EXPECT_NEAR(shares[i][k].item<double>(), one.probability, kSameAnswer) << one.name;
      }
    }
  }

  /// Returns [n, 3, h, w] in [0, 1].
  at::Tensor images(const std::vector<fs::path>& photos) const {
    return bytes(photos).permute({0, 3, 1, 2}).contiguous() / 255;
  }
  /// Returns uint8 [n, h, w, 3], as float, the only type that the engine takes.
  at::Tensor bytes(const std::vector<fs::path>& photos) const {
    std::vector<at::Tensor> all;
    for (const fs::path& one : photos) all.push_back(tensor_of(pixels(one)).to(at::kFloat));
    return at::cat(all);
  }
  std::vector<fs::path> asked() const { return {photo(17), photo(27), photo(37), photo(48), photo(5)}; }

  TempDir folder_;
  fs::path path_ = folder_ / "trees.pcm";
  fs::path model_ = folder_ / "out/trees.onnx";
};

TEST_F(OnnxOfRecognizer, AnswersAsItDoes) {
  make(conv_encoder(17));
  const OnnxExport made = exported();
  EXPECT_EQ(made.input, "image float32 [n, 3, 8, 8]");
  EXPECT_EQ(made.outputs, "probabilities [n, 3], none_of_these [n], familiarity [n], label [n]");
  EXPECT_EQ(made.bytes, static_cast<int64_t>(fs::file_size(model_)));
  EXPECT_EQ(read_file(folder_ / "out/trees.labels.txt"), "oak\nelm\nash tree\n");
  expect_same_answers(images(asked()), asked());
}

TEST_F(OnnxOfRecognizer, ReplacesNothingBehindALinkInThePlaceOfTheLabels) {
  make(conv_encoder(17));
  write_file(folder_ / "precious", "precious");
  fs::create_directories(folder_ / "out");
  fs::create_symlink(folder_ / "precious", folder_ / "out/trees.labels.txt");
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("trees.labels.txt"));
  EXPECT_EQ(read_file(folder_ / "precious"), "precious");
}

TEST_F(OnnxOfRecognizer, AnswersWhateverTheOperatorSetOfTheEncoder) {
  for (const int64_t opset : {9, 12, 13, 18, 21}) {
    SCOPED_TRACE(opset);
    fs::remove(path_);
    fs::remove(model_);
    fs::remove(folder_ / "out/trees.labels.txt");
    make(conv_encoder(opset));
    exported();
    EXPECT_EQ(onnx::read_outline(model_).opset, opset);
    expect_same_answers(images(asked()), asked());
  }
}

TEST_F(OnnxOfRecognizer, TakesImagesAsTheyAreDecoded) {
  make(conv_encoder(17));
  OnnxExportOptions options;
  options.uint8 = true;
  options.with_feature = true;
  const OnnxExport made = exported(options);
  EXPECT_EQ(made.input, "image uint8 [n, 8, 8, 3]");
  EXPECT_THAT(made.outputs, HasSubstr("feature [n, 6]"));
  expect_same_answers(bytes(asked()), asked());
  Recognizer recognizer = open();
  const at::Tensor own = tensor_of(
      recognizer.features_of({decode_square_image(read_file(photo(17)), recognizer.file().settings().preprocessing)}));
  EXPECT_TRUE(at::allclose(computed("feature", bytes({photo(17)})), own, 1e-4, 1e-5));
}

constexpr int64_t kWide = 64;

/// Returns an encoder of two convolutions, and a constant beyond float16.
OnnxWriter wide_encoder(int64_t opset = 17) {
  OnnxWriter wide(opset);
  wide.input("image", {-1, 3, kEncoderSide, kEncoderSide});
  wide.output("maps", {-1, kWide, 3, 3});
  wide.raw("w", at::arange(kWide * 27, at::kFloat).cos().view({kWide, 3, 3, 3}));
  wide.typed("v", at::arange(kWide * kWide, at::kFloat).sin().mul(0.2).view({kWide, kWide, 1, 1}));
  wide.raw("far", at::full({1, kWide, 3, 3}, 1e5F));
  wide.node("Conv", {"image", "w"}, {"a"}, whole_attribute("strides", {2, 2}));
  wide.node("Conv", {"a", "v"}, {"b"});
  wide.node("Min", {"b", "far"}, {"maps"});
  return wide;
}

TEST_F(OnnxOfRecognizer, RoundsWeightsWhereThatIsAskedFor) {
  make(wide_encoder());
  const int64_t whole = exported().bytes;
  const at::Tensor before = computed("probabilities", images(asked()));
  OnnxExportOptions options;
  options.half = true;
  EXPECT_LT(exported(options).bytes, whole - 2 * kWide * (27 + kWide) + 1000);
  EXPECT_EQ(onnx::read_outline(model_).metadata.at("weights"), "float16");
  EXPECT_LT((computed("probabilities", images(asked())) - before).abs().max().item<double>(), 0.05);
}

TEST_F(OnnxOfRecognizer, RoundsWeightsOfTheEncoderToWholeNumbers) {
  for (const int64_t opset : {9, 17}) {
    SCOPED_TRACE(opset);
    fs::remove(path_);
    fs::remove_all(model_.parent_path());
    make(wide_encoder(opset));
    const int64_t whole = exported().bytes;
    const at::Tensor before = computed("probabilities", images(asked()));
    OnnxExportOptions options;
    options.half = true;
    const int64_t half = exported(options).bytes;
    options.half = false;
    options.int8 = true;
    const int64_t small = exported(options).bytes;
    EXPECT_LT(small, half - kWide * kWide + 1000) << "the second convolution; the first has 27 numbers a channel";
    EXPECT_LT(small, whole - 3 * kWide * kWide);
    EXPECT_EQ(onnx::read_outline(model_).metadata.at("weights"), "int8");
    const double apart = (computed("probabilities", images(asked())) - before).abs().max().item<double>();
    EXPECT_LT(apart, 0.05);
    EXPECT_GT(apart, 0);
  }
  OnnxExportOptions both;
  both.half = both.int8 = true;
  EXPECT_THAT(usage_message_of([&] { exported(both); }), HasSubstr("int8 cannot be combined with features"));
}

/// Returns the file that an ONNX file names for its weights.
std::string weights_beside(const fs::path& model) {
  return model.parent_path() / onnx::read_outline(model).metadata.at("external_data");
}

/// "trees.onnx.0123456789abcdef.data"
constexpr const char* kWeightsName = "trees\\.onnx\\.[0-9a-f]+\\.data";

TEST_F(OnnxOfRecognizer, PutsItsWeightsBesideIt) {
  make(wide_encoder());
  for (const bool half : {false, true}) {
    SCOPED_TRACE(half);
    OnnxExportOptions options;
    options.half = half;
    const OnnxExport inside = exported(options);
    EXPECT_EQ(inside.data, "");
    const at::Tensor before = computed("probabilities", images(asked()));
    options.external_data = true;
    const OnnxExport made = exported(options);
    EXPECT_EQ(made.data, weights_beside(model_));
    EXPECT_LT(made.bytes, inside.bytes - 64 * 27 * 2);
    EXPECT_GE(fs::file_size(made.data), 64U * 27 * 2);
    EXPECT_THAT(onnx::read_outline(model_).metadata.at("external_data"), MatchesRegex(kWeightsName));
    EXPECT_TRUE(at::equal(computed("probabilities", images(asked())), before));
  }
  EXPECT_EQ(count_in(model_.parent_path()), 3U) << "those with other weights are gone";
  const std::string weights = weights_beside(model_);
  exported();
  EXPECT_FALSE(fs::exists(weights)) << "they are inside again";
}

TEST_F(OnnxOfRecognizer, PutsItsWeightsBesideItWhereOneFileIsTooSmall) {
  make(wide_encoder());
  const int64_t size = exported().bytes;
  Recognizer recognizer = open();
  EXPECT_EQ(export_onnx(recognizer, model_, {}, 2 * size + (int64_t{1} << 20)).data, "");
  const std::string data = export_onnx(recognizer, model_, {}, size / 2).data;
  EXPECT_EQ(data, weights_beside(model_));
  expect_same_answers(images(asked()), asked());
  EncoderFileOptions asked_for;
  asked_for.output = "probabilities";
  EXPECT_EQ(open_encoder(model_, asked_for)->dim(), 3);
}

TEST_F(OnnxOfRecognizer, HasNoPageAroundMoreThanOneFile) {
  make(wide_encoder());
  for (const char* name : {"ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"})
    write_file(folder_ / "dist" / name, "runtime");
  OnnxExportOptions options;
  options.page = (folder_ / "trees.html").string();
  options.runtime = (folder_ / "dist").string();
  Recognizer recognizer = open();
  EXPECT_THAT(message_of([&] { export_onnx(recognizer, model_, options, 10000); }),
              AllOf(HasSubstr("GB, expected at most"), HasSubstr("a page needs it in one piece")));
  options.external_data = true;
  EXPECT_THAT(usage_message_of([&] { exported(options); }), HasSubstr("leave out external_data"));
  EXPECT_FALSE(fs::exists(options.page));
  EXPECT_FALSE(fs::exists(model_));
}

TEST_F(OnnxOfRecognizer, HasItsOwnWeightsWhereALaterExportIsCutOff) {
  make(wide_encoder());
  OnnxExportOptions options;
  options.external_data = true;
  exported(options);
  const at::Tensor before = computed("probabilities", images(asked()));
  const std::string model = read_file(model_), weights = read_file(weights_beside(model_)),
                    name = weights_beside(model_);
  RecognizerFile(path_).remove_class("elm");
  exported(options);
  EXPECT_FALSE(fs::exists(name)) << "no file has them any more";
  write_file(model_, model);
  write_file(name, weights);  // before any of the files around it were replaced, except for the weights
  EXPECT_EQ(count_in(model_.parent_path()), 4U);
  EXPECT_TRUE(at::equal(computed("probabilities", images(asked())), before));
  options.half = true;
  exported(options);
  EXPECT_EQ(onnx::read_outline(model_).metadata.at("weights"), "float16");
}

TEST_F(OnnxOfRecognizer, RemovesWeightsThatAKilledExportHalfWrote) {
  make(wide_encoder());
  exported();
  const fs::path killed = model_.parent_path() / "trees.onnx.0123456789abcdef.data";
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(temporary_beside(killed)) << "half";
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  write_file(killed, "whole");
  ASSERT_EQ(count_in(model_.parent_path()), 4U);
  exported();
  EXPECT_EQ(count_in(model_.parent_path()), 3U);
  EXPECT_EQ(read_file(killed), "whole") << "another file may have these weights";
}

TEST_F(OnnxOfRecognizer, ReplacesNoOtherFileByItsWeights) {
  make(wide_encoder());
  OnnxExportOptions options;
  options.external_data = true;
  exported(options);
  const std::string weights = weights_beside(model_);
  fs::remove_all(model_.parent_path());
  write_file(folder_ / "precious", "precious");
  fs::create_directories(model_.parent_path());
  fs::create_symlink(folder_ / "precious", weights);
  EXPECT_THAT(message_of([&] { exported(options); }), HasSubstr("it is a symbolic link"));
  EXPECT_EQ(read_file(folder_ / "precious"), "precious");
  EXPECT_FALSE(fs::exists(model_));
}

TEST_F(OnnxOfRecognizer, RemovesNoOtherFileThatAnEarlierExportNames) {
  make(wide_encoder());
  OnnxExportOptions options;
  options.external_data = true;
  exported(options);
  const std::string own = fs::path(weights_beside(model_)).filename();
  write_file(folder_ / std::string(own.size() - 3, 'x'), "precious");
  std::string bytes = read_file(model_);
  const std::string other = "../" + std::string(own.size() - 3, 'x');
  for (size_t at = 0; (at = bytes.find(own, at)) != std::string::npos;) bytes.replace(at, own.size(), other);
  write_file(model_, bytes);
  ASSERT_EQ(onnx::read_outline(model_).metadata.at("external_data"), other);
  exported();
  EXPECT_TRUE(fs::exists(folder_ / std::string(own.size() - 3, 'x')));
}

TEST_F(OnnxOfRecognizer, WritesNothingWhereAPartCannotBeWritten) {
  make(wide_encoder());
  OnnxExportOptions options;
  options.external_data = true;
  exported(options);
  const std::string weights = weights_beside(model_);
  fs::remove_all(model_.parent_path());
  fs::create_directories(weights);
  EXPECT_THAT(message_of([&] { exported(options); }), HasSubstr(".data: it is not a plain file"));
  fs::create_directories(folder_ / "out/trees.labels.txt");
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("trees.labels.txt: it is not a plain file"));
  EXPECT_FALSE(fs::exists(model_));
  EXPECT_EQ(count_in(model_.parent_path()), 2U);
}

TEST_F(OnnxOfRecognizer, MeasuresWhatSmallerWeightsCost) {
  make(wide_encoder());
  Recognizer recognizer = open();
  OnnxExportOptions options;
  options.int8 = true;
  const ExportLoss loss = export_loss(recognizer, options);
  EXPECT_EQ(loss.bytes, exported().bytes);
  EXPECT_EQ(loss.photos, 12);
  EXPECT_GT(loss.times.whole, 0);
  EXPECT_GT(loss.times.smaller, 0);
  EXPECT_THAT(sentence_of(loss), HasSubstr("ms with smaller weights (" + loss.times.engine + " here)"));
  EXPECT_EQ(loss.answers.asked, 12);
  const ExpectedAccuracy expected = recognizer.expected_accuracy();
  EXPECT_EQ(loss.answers.right, std::lround(expected.accuracy * static_cast<double>(expected.asked)));
  EXPECT_LE(std::abs(loss.answers.right - loss.answers.right_by_others), loss.answers.changed);
  EXPECT_THAT(sentence_of(loss), HasSubstr("accuracy on 12 photos"));
}

TEST_F(OnnxOfRecognizer, MeasuresOnlyPhotosThatLieAsTheyWere) {
  make(wide_encoder());
  Recognizer recognizer = open();
  OnnxExportOptions options;
  options.half = true;
  fs::create_directory(folder_ / "moved");
  for (const int seed : {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33}) {
    const std::string name = fmt::format("{}.png", seed);
    if (seed % 10 < 2) fs::rename(folder_ / name, folder_ / "moved" / name);
    if (seed % 10 == 2) write_file(folder_ / name, "changed");
  }
  EXPECT_EQ(export_loss(recognizer, options).answers.asked, 3);
  EXPECT_EQ(export_loss(recognizer, options, {(folder_ / "moved").string()}).answers.asked, 6);
  fs::remove_all(folder_ / "moved");
  for (const int seed : {13, 23, 33}) fs::remove(folder_ / fmt::format("{}.png", seed));
  EXPECT_THAT(sentence_of(export_loss(recognizer, options)), HasSubstr("not measured"));
  EXPECT_THAT(message_of([&] { export_loss(recognizer, options, {(folder_ / "moved").string()}); }),
              HasSubstr("moved"));
}

TEST_F(OnnxOfRecognizer, AsksAboutOtherFeaturesOfPhotosThatAreLeftOut) {
  make(conv_encoder(17));
  Recognizer recognizer = open();
  const std::vector<LeftOutPhoto> photos = recognizer.left_out_photos();
  ASSERT_EQ(photos.size(), 12U);
  std::vector<at::Tensor> own, next;
  for (const LeftOutPhoto& one : photos) {
    const auto number = std::stoi(fs::path(one.source).stem().string());
    const Preprocessing sizes = recognizer.file().settings().preprocessing;
    const auto feature = [&](int seed) {
      return tensor_of(
          recognizer.features_of({decode_square_image(read_file(folder_ / fmt::format("{}.png", seed)), sizes)}));
    };
    own.push_back(feature(number));
    next.push_back(feature(number / 10 % 3 * 10 + 10));  // of the next class
  }
  const LeftOutComparison same = recognizer.compare_left_out(photos, array_of(at::cat(own)));
  EXPECT_EQ(same.changed, 0);
  EXPECT_EQ(same.right_by_others, same.right);
  const LeftOutComparison other = recognizer.compare_left_out(photos, array_of(at::cat(next)));
  EXPECT_EQ(other.right, same.right);
  EXPECT_LT(other.right_by_others, other.right);
  EXPECT_GE(other.changed, other.right - other.right_by_others);
}

TEST(Int8Weights, HaveAScaleForEachChannel) {
  const std::vector<float> weights = {1, -2, 4, 0, 0, 0, 254, 127, -100.4F};
  const onnx::Int8Weights rows = onnx::int8_of(weights, {3, 3}, 0);
  EXPECT_THAT(rows.scales, ElementsAre(4.0F / 127, 1, 2));
  EXPECT_THAT(rows.numbers, ElementsAre(32, -64, 127, 0, 0, 0, 127, 64, -50));
  const onnx::Int8Weights columns = onnx::int8_of(weights, {3, 3}, 1);
  EXPECT_THAT(columns.scales, ElementsAre(2, 1, 100.4F / 127));
  EXPECT_THAT(columns.numbers, ElementsAre(0, -2, 5, 0, 0, 0, 127, 127, -127));
  const onnx::Int8Weights middle = onnx::int8_of({1, 3, 10, 20}, {1, 2, 2}, 1);
  EXPECT_THAT(middle.numbers, ElementsAre(42, 127, 64, 127));
}

TEST_F(OnnxOfRecognizer, LeavesTheEncoderOut) {
  make(conv_encoder(17));
  OnnxExportOptions options;
  options.features = true;
  EXPECT_EQ(exported(options).input, "features float32 [n, 6]");
  Recognizer recognizer = open();
  std::vector<Image> photos;
  for (const fs::path& one : asked())
    photos.push_back(decode_square_image(read_file(one), recognizer.file().settings().preprocessing));
  expect_same_answers(tensor_of(recognizer.features_of(photos)), asked());
  options.uint8 = true;
  EXPECT_THAT(usage_message_of([&] { exported(options); }), HasSubstr("without the encoder"));
}

TEST_F(OnnxOfRecognizer, IsReadBackAsAnEncoder) {
  make(conv_encoder(17));
  exported();
  EncoderFileOptions asked_for;
  asked_for.output = "probabilities";
  const auto back = open_encoder(model_, asked_for);
  EXPECT_EQ(back->image_size(), kEncoderSide);
  EXPECT_EQ(back->preprocessing().resize, 10);
  EXPECT_FALSE(back->preprocessing().normalises()) << "that is inside";
  EXPECT_EQ(back->dim(), 3);
  const Array shares = back->features(pixels(photo(17)));
  const Answer answer = open().classify(photo(17));
  EXPECT_NEAR(tensor_of(shares).max().item<double>(), answer.ranking.front().probability, kSameAnswer);
}

TEST_F(OnnxOfRecognizer, IsNoEncoderWithoutTheFeature) {
  make(conv_encoder(17));
  OnnxExportOptions options;
  for (options.features = false;; options.features = true) {
    exported(options);
    EXPECT_THAT(message_of([&] { open_encoder(model_, {}); }),
                AllOf(HasSubstr("trees.onnx"), HasSubstr("is an exported recognizer"), HasSubstr("--with-feature")));
    if (options.features) break;
  }
}

TEST_F(OnnxOfRecognizer, IsReadBackAsTheEncoderWhereItHasTheFeature) {
  make(conv_encoder(17));
  OnnxExportOptions options;
  options.with_feature = true;
  exported(options);
  EncoderFileOptions stated;
  stated.preprocessing = RecognizerFile(path_, FileUse::kRead).settings().preprocessing;
  const auto own = open_encoder(folder_ / "encoder.onnx", stated), back = open_encoder(model_, {});
  EXPECT_TRUE(at::allclose(tensor_of(back->features(pixels(photo(17)))), tensor_of(own->features(pixels(photo(17)))),
                           1e-5, 1e-6));
  options.uint8 = true;
  exported(options);
  EXPECT_THAT(message_of([&] { open_encoder(model_, {}); }), HasSubstr("images are whole numbers, expected float32"));
}

TEST_F(OnnxOfRecognizer, SaysWhatItIs) {
  make(conv_encoder(17));
  exported();
  const auto said = onnx::read_outline(model_).metadata;
  EXPECT_THAT(parse_json(said.at("classes"), "").get<std::vector<std::string>>(),
              ElementsAre("oak", "elm", "ash tree"));
  EXPECT_EQ(parse_json(said.at("titles"), "").size(), 3U);
  EXPECT_EQ(said.at("method"), "plda");
  EXPECT_EQ(said.at("encoder_license"), "Apache-2.0");
  EXPECT_EQ(parse_json(said.at("normalisation"), "").at("mean").get<std::vector<double>>(),
            (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(parse_json(said.at("preprocessing.json"), ""),
            nlohmann::json({{"image_size", 8}, {"resize", 10}, {"resampling", "bilinear"}, {"squeeze", false}}));
  const nlohmann::json own = parse_json(said.at("recognizer"), "");
  EXPECT_EQ(own.at("hash"), hash_file(path_));
  EXPECT_EQ(own.at("revision"), RecognizerFile(path_, FileUse::kRead).revision());
  EXPECT_EQ(parse_json(said.at("calibration"), "").at("classes"), 3);
}

TEST_F(OnnxOfRecognizer, WithoutACalibrationSaysNothingOfNone) {
  make(conv_encoder(17));
  RecognizerFile(path_).undo();
  const Logged logged;
  EXPECT_THAT(exported().outputs, Not(HasSubstr("none_of_these")));
  EXPECT_THAT(logged.text(), HasSubstr("is not calibrated"));
  EXPECT_EQ(onnx::read_outline(model_).metadata.at("calibration"), "null");
}

TEST_F(OnnxOfRecognizer, SaysThatTheCalibrationIsOfAnotherMethod) {
  make(conv_encoder(17));
  Recognizer recognizer = open("mean");
  const Logged logged;
  EXPECT_THAT(export_onnx(recognizer, model_).outputs, Not(HasSubstr("none_of_these")));
  EXPECT_THAT(logged.text(), HasSubstr("is calibrated for 'plda', not for 'mean'"));
  EXPECT_THAT(logged.text(), Not(HasSubstr("protocom calibrate")));
}

TEST_F(OnnxOfRecognizer, TakesTheMeanOfTokens) {
  OnnxWriter made(17);
  made.input("image", {-1, 3, kEncoderSide, kEncoderSide});
  made.output("tokens", {-1, 9, kEncoderDim});
  made.raw("w", at::arange(kEncoderDim * 27, at::kFloat).cos().view({kEncoderDim, 3, 3, 3}));
  made.integers("shape", {-1, kEncoderDim, 9});
  made.node("Conv", {"image", "w"}, {"maps"}, whole_attribute("strides", {2, 2}));
  made.node("Reshape", {"maps", "shape"}, {"rows"});
  made.node("Transpose", {"rows"}, {"tokens"}, whole_attribute("perm", {0, 2, 1}));
  make(made);
  exported();
  expect_same_answers(images(asked()), asked());
}

TEST_F(OnnxOfRecognizer, RefusesWhatCannotBeWritten) {
  make(conv_encoder(17));
  Recognizer plain = open(), batch = open("plda-vb"), other = open("baseline-pp");
  EXPECT_THAT(usage_message_of([&] { export_onnx(batch, model_); }),
              AllOf(HasSubstr("'plda-vb' cannot be exported: it classifies all images jointly"), HasSubstr("'plda'")));
  EXPECT_THAT(usage_message_of([&] { export_onnx(other, model_); }),
              HasSubstr("'baseline-pp' cannot be exported: it needs all labelled images"));
  EXPECT_THAT(usage_message_of([&] { export_onnx(batch, model_); }), Not(HasSubstr("completed")));
  for (const char* method : {"bavardage", "knn"}) {
    Recognizer needs_base = open(method);
    EXPECT_EQ(usage_message_of([&] { export_onnx(needs_base, model_); }),
              fmt::format("'{}' needs features of base classes, which a recognizer does not keep: use 'plda' instead",
                          method));
  }
  Recognizer completed = open("completed");
  EXPECT_EQ(usage_message_of([&] { export_onnx(completed, model_); }),
            "'completed' needs a completion model, which this recognizer was made without (recognizer create --model): "
            "use 'plda'");
  EXPECT_THAT(message_of([&] { export_onnx(plain, folder_ / "encoder.onnx/x.onnx"); }), HasSubstr("encoder.onnx"));
  EXPECT_THAT(message_of([&] { export_onnx(plain, path_); }), HasSubstr("is not an export of this recognizer"));
  EXPECT_FALSE(fs::exists(model_));
  exported();
  const std::string before = read_file(model_);
  exported();
  EXPECT_EQ(read_file(model_), before) << "it is written over";
  write_file(model_, conv_encoder(17).bytes());
  EXPECT_THAT(message_of([&] { export_onnx(plain, model_); }), HasSubstr("exists and is not an export"));
}

TEST_F(OnnxOfRecognizer, LeavesLabelsAloneThatAreNotOfTheExportBesideThem) {
  make(conv_encoder(17));
  exported();
  const std::filesystem::path labels = folder_ / "out/trees.labels.txt";
  write_file(labels, "list of my own\n");
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("trees.labels.txt exists and is not the labels of"));
  EXPECT_EQ(read_file(labels), "list of my own\n");
  write_file(labels, "oak\nelm\nash tree\n");
  RecognizerFile(path_).remove_class("elm");
  exported();
  EXPECT_EQ(read_file(labels), "oak\nash tree\n") << "those of the export before are replaced";
  fs::remove(labels);
  exported();
  EXPECT_EQ(read_file(labels), "oak\nash tree\n");
  fs::remove(model_);
  exported();
  EXPECT_TRUE(fs::exists(model_)) << "the same labels may be there, of an export that was cut off";
}

TEST_F(OnnxOfRecognizer, LeavesTheExportOfAnotherRecognizerAlone) {
  make(conv_encoder(17));
  exported();
  const std::string others = read_file(model_), labels = read_file(folder_ / "out/trees.labels.txt");
  path_ = folder_ / "other.pcm";
  make(conv_encoder(17));  // of the same parts
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("is not an export of this recognizer: choose another name"));
  EXPECT_EQ(read_file(model_), others);
  EXPECT_EQ(read_file(folder_ / "out/trees.labels.txt"), labels);
}

TEST_F(OnnxOfRecognizer, AnswersWithTheOnlyClass) {
  make(conv_encoder(17));
  RecognizerFile file(path_);
  for (const char* name : {"elm", "ash tree"}) file.remove_class(name);
  EXPECT_THAT(exported().outputs, HasSubstr("probabilities [n, 1]"));
  expect_same_answers(images(asked()), asked());
}

TEST_F(OnnxOfRecognizer, RefusesARecognizerWithoutClasses) {
  make(conv_encoder(17));
  RecognizerFile file(path_);
  for (const char* name : {"oak", "elm", "ash tree"}) file.remove_class(name);
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("no class is enrolled"));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

class OnnxOfAProgram : public SmallRecognizer {};

TEST_F(OnnxOfAProgram, IsWrittenWithoutItAlone) {
  torch::jit::Module means("means");
  means.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  means.save((folder_ / "means.pt").string());
  RecognizerParts program;
  program.backbone = folder_ / "means.pt";
  program.preprocessing = "plain:size=16";
  program.moments = "off";
  path_ = folder_ / "means.pcm";
  create_recognizer(path_, program, {});
  Recognizer recognizer = Recognizer::open(path_);
  recognizer.enrol({request("cat", {photo("1.png", 10)}), request("dog", {photo("2.png", 200)})});
  EXPECT_THAT(message_of([&] { export_onnx(recognizer, folder_ / "pets.onnx"); }),
              AllOf(HasSubstr("TorchScript file is a program"), HasSubstr("give the encoder as ONNX"),
                    HasSubstr("--features")));
  EXPECT_FALSE(fs::exists(folder_ / "pets.onnx"));
  OnnxExportOptions options;
  options.features = true;
  EXPECT_THAT(export_onnx(recognizer, folder_ / "pets.onnx", options).outputs, HasSubstr("probabilities [n, 2]"));
}

std::string kept_message(const fs::path& file, const std::string& bytes) {
  write_file(file, bytes);
  return message_of([&] { onnx::kept_graph(file); });
}

TEST(KeptGraph, RefusesMoreThanTwoGigabytesBesideTheFile) {
  const TempDir folder;
  OnnxWriter made(17);
  made.input("image", {-1, 3, 8, 8});
  made.output("y", {-1, 8});
  made.outside("w", at::zeros({1}).expand({1 << 20, 1 << 10}), {{"location", "weights.bin"}});
  made.node("MatMul", {"image", "w"}, {"y"});
  write_file(folder / "weights.bin", "");
  fs::resize_file(folder / "weights.bin", uintmax_t{1} << 32);  // takes no disk space
  EXPECT_THAT(kept_message(folder / "large.onnx", made.bytes()),
              AllOf(HasSubstr("large.onnx"), HasSubstr("4.3 GB, expected at most 2")));
}

TEST(KeptGraph, KeepsNumbersBeyondHalfThatLieBesideTheFile) {
  const TempDir folder;
  OnnxWriter made(17);
  made.input("image", {-1, 3, 8, 8});
  made.output("y", {-1, 8});
  const at::Tensor far = at::full({1024}, 1e5F);
  made.outside("far", far, {{"location", "weights.bin"}});
  made.node("Add", {"image", "far"}, {"y"});
  write_file(folder / "weights.bin", std::string_view(static_cast<const char*>(far.data_ptr()), far.nbytes()));
  write_file(folder / "far.onnx", made.bytes());
  EXPECT_GE(onnx::kept_graph(folder / "far.onnx", onnx::Weights::kFloat16).graph.size(), far.nbytes());
}

TEST(KeptGraph, RefusesOperatorsThatAreNotOnnxsOwn) {
  const TempDir folder;
  OnnxWriter made(17);
  made.input("image", {-1, 3, 8, 8});
  made.output("y", {-1, 8});
  OnnxAttributes attributes;
  attributes.domain = "com.microsoft";
  made.node("FusedConv", {"image"}, {"y"}, attributes);
  EXPECT_THAT(kept_message(folder / "a.onnx", made.bytes()),
              AllOf(HasSubstr("a.onnx"), HasSubstr("'FusedConv'"), HasSubstr("com.microsoft")));
  EXPECT_THAT(kept_message(folder / "b.onnx", OnnxWriter(8).bytes()), HasSubstr("set 8, expected 9"));
  EXPECT_THAT(kept_message(folder / "c.onnx", "no graph"), HasSubstr("c.onnx"));
}

}  // namespace
}  // namespace protocom::testing
