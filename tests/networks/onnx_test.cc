#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_model_parts.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "networks/onnx/detail/batch_axis.h"
#include "networks/onnx/detail/fuse.h"
#include "networks/onnx/detail/model.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::OnnxWriter;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

constexpr int64_t kSide = 8;

at::Tensor wave_images(int64_t count) {
  return at::arange(count * 3 * kSide * kSide, at::kFloat)
      .mul(0.37)
      .sin()
      .mul(0.5)
      .add(0.5)
      .view({count, 3, kSide, kSide});
}

at::Tensor weights(at::IntArrayRef sizes) { return at::arange(at::empty(sizes).numel(), at::kFloat).cos().view(sizes); }

EncoderFileOptions plain(int64_t side = kSide) {
  EncoderFileOptions asked;
  asked.preprocessing = Preprocessing{side};
  return asked;
}

/// Returns a convolution of four channels and their means; the test adds the weights.
OnnxWriter convolving_graph(int64_t opset = 17) {
  OnnxWriter writer(opset);
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("Conv", {"images", "weight"}, {"maps"}, {{{"pads", {1, 1, 1, 1}}}});
  writer.node("Relu", {"maps"}, {"positive"});
  writer.node("GlobalAveragePool", {"positive"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.output("features", {1, 4});
  return writer;
}

at::Tensor convolved(const at::Tensor& images, const at::Tensor& weight) {
  return at::conv2d(images, weight, {}, 1, 1).relu().mean({2, 3});
}

std::unique_ptr<Backbone> opened(const TempDir& folder, const OnnxWriter& writer,
                                 const EncoderFileOptions& asked = plain()) {
  write_file(folder / "encoder.onnx", writer.bytes());
  return open_backbone(folder / "encoder.onnx", asked);
}

void expect_near_to(const at::Tensor& found, const at::Tensor& expected) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LT((found - expected).abs().max().item<float>(), 1e-5 * expected.abs().max().item<float>());
}

TEST(Onnx, TensorsComeAsBytesAsNumbersAndInHalfPrecision) {
  const TempDir folder;
  const at::Tensor weight = weights({4, 3, 3, 3});
  OnnxWriter raw = convolving_graph();
  raw.raw("weight", weight);
  expect_near_to(opened(folder, raw)->forward(wave_images(3)), convolved(wave_images(3), weight));
  OnnxWriter typed = convolving_graph();
  typed.typed("weight", weight);
  expect_near_to(opened(folder, typed)->forward(wave_images(3)), convolved(wave_images(3), weight));
  OnnxWriter half = convolving_graph();
  half.raw("weight", weight.to(at::kHalf), 10);
  expect_near_to(opened(folder, half)->forward(wave_images(3)),
                 convolved(wave_images(3), weight.to(at::kHalf).to(at::kFloat)));
}

TEST(Onnx, TensorsOutsideLieInItsFolderAndCanBeBroughtInside) {
  const TempDir folder;
  const at::Tensor weight = weights({4, 3, 3, 3});
  const std::string bytes(static_cast<const char*>(weight.data_ptr()), weight.nbytes());
  write_file(folder / "weights.bin", std::string(16, '\0') + bytes);
  OnnxWriter writer = convolving_graph();
  writer.outside("weight", weight,
                 {{"location", "weights.bin"}, {"offset", "16"}, {"length", std::to_string(bytes.size())}});
  expect_near_to(opened(folder, writer)->forward(wave_images(2)), convolved(wave_images(2), weight));
  const auto inside = onnx::self_contained(folder / "encoder.onnx", "");
  ASSERT_TRUE(inside);
  std::filesystem::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere/encoder.onnx", *inside);
  EXPECT_FALSE(onnx::self_contained(folder / "elsewhere/encoder.onnx", ""));
  expect_near_to(open_backbone(folder / "elsewhere/encoder.onnx", plain())->forward(wave_images(2)),
                 convolved(wave_images(2), weight));
}

TEST(Onnx, LargeTensorsAreApartWhereAFileHasTooManyBytesToBeParsed) {
  const TempDir folder;
  const at::Tensor first = weights({16, 3, 3, 3}), second = weights({4, 16, 3, 3});
  write_file(folder / "weights.bin", std::string_view(static_cast<const char*>(second.data_ptr()), second.nbytes()));
  OnnxWriter writer;
  writer.input("images", {-1, 3, kSide, kSide});
  writer.raw("first", first);
  writer.outside("second", second, {{"location", "./weights.bin"}});
  writer.raw("bias", weights({4}));
  writer.node("Conv", {"images", "first"}, {"a"});
  writer.node("Conv", {"a", "second", "bias"}, {"b"});
  writer.output("b");
  const at::Tensor known = opened(folder, writer)->forward(wave_images(2));
  const auto all = static_cast<int64_t>(std::filesystem::file_size(folder / "encoder.onnx") + second.nbytes());
  const onnx::ModelParts whole(folder / "encoder.onnx", "", all);
  EXPECT_TRUE(whole.files().empty());
  EXPECT_EQ(whole.bytes(), all);
  const onnx::ModelParts apart(folder / "encoder.onnx", "", all - 1);
  EXPECT_EQ(apart.bytes(), all);
  EXPECT_LT(apart.graph().size(), 1000U) << "without " << first.nbytes() + second.nbytes() << " bytes of tensors";
  for (const auto& [name, bytes] : apart.files()) write_file(folder / "apart" / name, bytes);
  write_file(folder / "apart/graph.onnx", apart.graph());
  expect_near_to(open_backbone(folder / "apart/graph.onnx", plain())->forward(wave_images(2)), known);
  EXPECT_THAT(message_of([&] { onnx::ModelParts(folder / "encoder.onnx", "", all - 1, 1024); }),
              AllOf(HasSubstr("encoder.onnx: its tensor '"), HasSubstr("choose the engine torch")));
  EXPECT_THAT(message_of([&] { onnx::ModelParts(folder / "encoder.onnx", "", 100); }),
              HasSubstr("without its large tensors it has"));
}

TEST(Onnx, TensorsOutsideAreNotReadFromElsewhereNorBeyondTheirFile) {
  const TempDir folder;
  const at::Tensor weight = weights({4, 3, 3, 3});
  write_file(folder / "weights.bin", std::string(100, '\0'));
  const auto refused = [&](const std::map<std::string, std::string>& place) {
    OnnxWriter writer = convolving_graph();
    writer.outside("weight", weight, place);
    return message_of([&] { opened(folder, writer); });
  };
  EXPECT_THAT(refused({{"location", "../weights.bin"}}), HasSubstr("a file in the same folder"));
  EXPECT_THAT(refused({{"location", "/etc/passwd"}}), HasSubstr("a file in the same folder"));
  EXPECT_THAT(refused({{"location", "weights.bin"}, {"offset", "90"}, {"length", "432"}}), HasSubstr("cut off"));
  EXPECT_THAT(refused({{"location", "weights.bin"}, {"offset", "18446744073709551615"}, {"length", "2"}}),
              HasSubstr("cut off"));
  EXPECT_THAT(refused({{"location", "weights.bin"}}), HasSubstr("100 bytes for 108 values"));
  EXPECT_THAT(refused({{"location", "nowhere.bin"}}), HasSubstr("nowhere.bin"));
}

TEST(Onnx, TensorsOutsideMayBeALinkToWhereTheModelLiesAndNowhereElse) {
  const TempDir folder;
  const at::Tensor weight = weights({4, 3, 3, 3});
  const std::string bytes(static_cast<const char*>(weight.data_ptr()), weight.nbytes());
  for (const char* name : {"secret", "blobs", "snapshot"}) std::filesystem::create_directory(folder / name);
  write_file(folder / "secret/key", bytes);
  OnnxWriter writer = convolving_graph();
  writer.outside("weight", weight, {{"location", "weights.bin"}});
  std::filesystem::create_symlink("../secret/key", folder / "snapshot/weights.bin");
  write_file(folder / "snapshot/encoder.onnx", writer.bytes());
  EXPECT_THAT(message_of([&] { open_backbone(folder / "snapshot/encoder.onnx", plain()); }),
              HasSubstr("'weights.bin', a symbolic link out of the model's folder"));
  // As in Hugging Face's cache: names in a snapshot, contents among the blobs.
  std::filesystem::rename(folder / "snapshot/encoder.onnx", folder / "blobs/1");
  write_file(folder / "blobs/2", bytes);
  std::filesystem::remove(folder / "snapshot/weights.bin");
  std::filesystem::create_symlink("../blobs/1", folder / "snapshot/encoder.onnx");
  std::filesystem::create_symlink("../blobs/2", folder / "snapshot/weights.bin");
  expect_near_to(open_backbone(folder / "snapshot/encoder.onnx", plain())->forward(wave_images(2)),
                 convolved(wave_images(2), weight));
}

TEST(Onnx, AnUnsupportedOperatorIsNamedWithItsNode) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("NonZero", {"images"}, {"features"});
  writer.output("features");
  EXPECT_THAT(message_of([&] { opened(folder, writer); }),
              AllOf(HasSubstr("NonZero"), HasSubstr("node_features"), HasSubstr("install ONNX Runtime"),
                    Not(HasSubstr("basic"))));
  OnnxWriter other;
  other.input("images", {1, 3, kSide, kSide});
  testing::OnnxAttributes of_another;
  of_another.domain = "com.microsoft";
  other.node("Conv", {"images"}, {"features"}, of_another);
  other.output("features");
  EXPECT_THAT(message_of([&] { opened(folder, other); }),
              AllOf(HasSubstr("com.microsoft.Conv"), HasSubstr("install ONNX Runtime"), HasSubstr("level basic")));
}

/// The axis of the images is moved into the middle and merged with another one, as in attention and windows.
TEST(Onnx, ABatchOfOneInTheGraphTakesAnyBatch) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {1, 3, kSide, kSide});
  writer.integers("tokens", {1, 3, 64});
  writer.integers("heads", {4, 4, 16});
  writer.integers("again", {1, 4, 64});
  writer.raw("class", weights({1, 1, 64}));
  writer.node("Reshape", {"images", "tokens"}, {"rows"});                  // [n, 3, 64]
  writer.node("Concat", {"class", "rows"}, {"all"}, {{}, {{"axis", 1}}});  // [n, 4, 64]
  writer.node("Transpose", {"all"}, {"turned"}, {{{"perm", {1, 0, 2}}}});  // [4, n, 64]
  writer.node("Reshape", {"turned", "heads"}, {"split"});                  // [4, 4 n, 16]
  writer.node("Softmax", {"split"}, {"weights"}, {{}, {{"axis", -1}}});
  writer.integers("whole", {4, 1, 64});
  writer.node("Reshape", {"weights", "whole"}, {"merged"});                 // [4, n, 64]
  writer.node("Transpose", {"merged"}, {"back"}, {{{"perm", {1, 0, 2}}}});  // [n, 4, 64]
  writer.node("ReduceMean", {"back"}, {"features"}, {{{"axes", {1}}}, {{"keepdims", 0}}});
  writer.output("features", {1, 64});
  const auto backbone = opened(folder, writer);
  const at::Tensor images = wave_images(3);
  std::vector<at::Tensor> each;
  for (int64_t i = 0; i < 3; ++i) each.push_back(backbone->forward(images.slice(0, i, i + 1)));
  expect_near_to(backbone->forward(images), at::cat(each));
  const at::Tensor rows = at::cat({weights({1, 1, 64}).expand({3, 1, 64}), images.view({3, 3, 64})}, 1);
  expect_near_to(backbone->forward(images), at::softmax(rows.view({3, 4, 4, 16}), -1).view({3, 4, 64}).mean(1));
}

TEST(Onnx, SizesThatTheGraphComputesFollowTheBatchToo) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {-1, 3, -1, -1});
  writer.node("Shape", {"images"}, {"sizes"});
  writer.integers("first", {0});
  writer.integers("rest", {-1});
  writer.node("Gather", {"sizes", "first"}, {"n"});
  writer.node("Concat", {"n", "rest"}, {"target"}, {{}, {{"axis", 0}}});
  writer.node("Reshape", {"images", "target"}, {"features"});
  writer.output("features", {-1, -1});
  const auto backbone = opened(folder, writer);
  EXPECT_EQ(backbone->dim(), 192);
  EXPECT_TRUE(at::equal(backbone->forward(wave_images(5)), wave_images(5).flatten(1)));
}

TEST(Onnx, AGraphThatTakesOneImageOnlyIsRunForOneAfterTheOther) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("ReduceMean", {"images"}, {"mean"}, {{{"axes", {0, 2, 3}}}, {{"keepdims", 0}}});  // over the batch too
  writer.output("mean", {3});
  const auto backbone = opened(folder, writer);
  expect_near_to(backbone->forward(wave_images(4)), wave_images(4).mean({2, 3}));
}

TEST(Onnx, TheFeatureIsFoundAmongSeveralOutputsOrAskedFor) {
  const TempDir folder;
  const auto two = [](const char* a, const char* b) {
    OnnxWriter writer = convolving_graph();
    writer.raw("weight", weights({4, 3, 3, 3}));
    writer.node("ReduceMax", {"positive"}, {a}, {{{"axes", {2, 3}}}, {{"keepdims", 0}}});
    writer.node("ReduceMean", {"positive"}, {b}, {{{"axes", {2, 3}}}, {{"keepdims", 0}}});
    writer.output(a, {1, 4});
    writer.output(b, {1, 4});
    return writer;
  };
  const at::Tensor maps = at::conv2d(wave_images(2), weights({4, 3, 3, 3}), {}, 1, 1).relu();
  expect_near_to(opened(folder, two("logits", "image_embeds"))->forward(wave_images(2)), maps.mean({2, 3}));
  EncoderFileOptions asked = plain();
  asked.output = "most";
  expect_near_to(opened(folder, two("most", "least"), asked)->forward(wave_images(2)), at::amax(maps, {2, 3}));
  asked.output = "positive";  // maps inside the graph
  const auto mapping = opened(folder, two("most", "least"), asked);
  expect_near_to(mapping->forward(wave_images(2)), maps.mean({2, 3}));
  expect_near_to(mapping->forward_maps(wave_images(2)), maps);
  write_file(folder / "only.onnx", *onnx::self_contained(folder / "encoder.onnx", "positive"));
  expect_near_to(open_backbone(folder / "only.onnx", plain())->forward(wave_images(2)), maps.mean({2, 3}));
  write_file(folder / "least.onnx", *onnx::self_contained(folder / "encoder.onnx", "least"));
  EXPECT_EQ(onnx::read_outline(folder / "least.onnx").outputs.at(0).sizes, (std::vector<int64_t>{1, 4}));
  asked.output = "nothing";
  EXPECT_THAT(message_of([&] { opened(folder, two("most", "least"), asked); }), HasSubstr("most [1, 4]"));
}

TEST(Onnx, ImagesWithChannelsLastAreTurned) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {-1, kSide, kSide, 3});
  writer.node("ReduceMean", {"images"}, {"mean"}, {{{"axes", {1, 2}}}, {{"keepdims", 0}}});
  writer.output("mean", {-1, 3});
  expect_near_to(opened(folder, writer)->forward(wave_images(2)), wave_images(2).mean({2, 3}));
}

TEST(Onnx, TheSizeComesFromTheGraphAndTheRestFromMetadataOrTheUser) {
  const TempDir folder;
  OnnxWriter writer = convolving_graph();
  writer.raw("weight", weights({4, 3, 3, 3}));
  EXPECT_EQ(opened(folder, writer, plain(16))->image_size(), kSide);
  EXPECT_THAT(message_of([&] { opened(folder, writer, {}); }), HasSubstr("--preprocess"));
  writer.metadata("preprocessing.json", R"({"image_size": 8, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]})");
  const auto stated = opened(folder, writer, {});
  EXPECT_EQ(stated->preprocessing().mean, std::vector<double>(3, 0.5));
  expect_near_to(stated->forward(wave_images(2)), convolved((wave_images(2) - 0.5) / 0.5, weights({4, 3, 3, 3})));
}

/// Layer norm, GELU, SiLU, hard swish, a linear layer and batch norm as decomposed by exporters.
TEST(Onnx, WhatExportersWriteOutComputesTheSame) {
  const TempDir folder;
  OnnxWriter writer(13);
  writer.input("images", {1, 3, kSide, kSide});
  writer.raw("weight", weights({4, 3, 3, 3}));
  for (const char* name : {"scale", "shift", "mean", "variance"}) writer.raw(name, weights({4}).abs() + 0.5);
  writer.node("Conv", {"images", "weight"}, {"maps"});
  writer.node("BatchNormalization", {"maps", "scale", "shift", "mean", "variance"}, {"normal"},
              {{}, {}, {{"epsilon", 1e-3F}}});
  writer.node("Transpose", {"normal"}, {"x"}, {{{"perm", {0, 2, 3, 1}}}});
  writer.raw("two", at::tensor({2.0F}));
  writer.raw("epsilon", at::tensor({1e-6F}));
  writer.node("ReduceMean", {"x"}, {"m"}, {{{"axes", {-1}}}});
  writer.node("Sub", {"x", "m"}, {"d"});
  writer.node("Pow", {"d", "two"}, {"d2"});
  writer.node("ReduceMean", {"d2"}, {"v"}, {{{"axes", {-1}}}});
  writer.node("Add", {"v", "epsilon"}, {"ve"});
  writer.node("Sqrt", {"ve"}, {"s"});
  writer.node("Div", {"d", "s"}, {"n"});
  writer.node("Mul", {"n", "scale"}, {"ns"});
  writer.node("Add", {"ns", "shift"}, {"layer"});
  writer.raw("matrix", weights({4, 6}));
  writer.raw("bias", weights({6}));
  writer.node("MatMul", {"layer", "matrix"}, {"product"});
  writer.node("Add", {"bias", "product"}, {"linear"});
  writer.raw("root", at::tensor({1.41421354F}));
  writer.raw("one", at::tensor({1.0F}));
  writer.raw("half", at::tensor({0.5F}));
  writer.node("Div", {"linear", "root"}, {"e0"});
  writer.node("Erf", {"e0"}, {"e1"});
  writer.node("Add", {"e1", "one"}, {"e2"});
  writer.node("Mul", {"linear", "e2"}, {"e3"});
  writer.node("Mul", {"e3", "half"}, {"gelu"});
  writer.node("Sigmoid", {"gelu"}, {"gate"});
  writer.node("Mul", {"gelu", "gate"}, {"silu"});
  writer.node("HardSigmoid", {"silu"}, {"hard"}, {{}, {}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}}});
  writer.node("Mul", {"silu", "hard"}, {"swish"});
  writer.node("ReduceMean", {"swish"}, {"features"}, {{{"axes", {1, 2}}}, {{"keepdims", 0}}});
  writer.output("features", {1, 6});
  const at::Tensor values = weights({4}).abs() + 0.5;
  at::Tensor x = at::conv2d(wave_images(2), weights({4, 3, 3, 3}));
  x = at::batch_norm(x, values, values, values, values, false, 0.1, 1e-3, false).permute({0, 2, 3, 1});
  x = at::linear(at::layer_norm(x, {4}, values, values, 1e-6), weights({4, 6}).t(), weights({6}));
  x = at::hardswish(at::silu(at::gelu(x))).mean({1, 2});
  expect_near_to(opened(folder, writer)->forward(wave_images(2)), x);
}

TEST(Onnx, EveryCutOffFileIsRefusedInASentence) {
  const TempDir folder;
  OnnxWriter writer = convolving_graph();
  writer.raw("weight", weights({4, 3, 3, 3}));
  const std::string whole = writer.bytes();
  for (size_t length = 0; length + 1 < whole.size(); length += length < 40 ? 1 : 23) {
    write_file(folder / "cut.onnx", whole.substr(0, length));
    EXPECT_THAT(message_of([&] { open_backbone(folder / "cut.onnx", plain()); }), HasSubstr("cut.onnx")) << length;
  }
}

TEST(Onnx, SizesThatNoFileCouldHoldAreRefused) {
  const TempDir folder;
  const auto refused = [&](const OnnxWriter& writer) { return message_of([&] { opened(folder, writer); }); };
  OnnxWriter large;
  large.input("images", {1, 3, kSide, kSide});
  large.integers("shape", {1 << 20, 1 << 20});
  large.node("ConstantOfShape", {"shape"}, {"ones"});
  large.node("Add", {"ones", "images"}, {"features"});
  large.output("features");
  EXPECT_THAT(refused(large), HasSubstr("values"));
  OnnxWriter padded;
  padded.input("images", {1, 3, kSide, kSide});
  padded.raw("weight", weights({4, 3, 3, 3}));
  padded.node("Conv", {"images", "weight"}, {"features"}, {{{"pads", {1 << 30, 0, 0, 0}}}});
  padded.output("features");
  EXPECT_THAT(refused(padded), HasSubstr("Conv 'node_features'"));
  OnnxWriter divided;
  divided.input("images", {1, 3, kSide, kSide});
  divided.integers("zero", {0});
  divided.integers("one", {1});
  divided.node("Div", {"one", "zero"}, {"shape"});
  divided.node("Reshape", {"images", "shape"}, {"features"});
  divided.output("features");
  EXPECT_THAT(refused(divided), HasSubstr("division of whole numbers by 0"));
  EXPECT_THAT(refused(convolving_graph(8)), HasSubstr("opset 8"));
}

TEST(Onnx, OperatorsMayStandBeforeWhatTheyTake) {
  OnnxWriter writer(24);
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.node("GlobalAveragePool", {"twice"}, {"mean"});
  writer.node("Add", {"images", "images"}, {"twice"});
  writer.output("features");
  const TempDir folder;
  const at::Tensor images = wave_images(2);
  expect_near_to(opened(folder, writer)->forward(images), 2 * images.mean({2, 3}));
  OnnxWriter circle;
  circle.input("images", {1, 3, kSide, kSide});
  circle.node("Add", {"images", "features"}, {"sum"});
  circle.node("Relu", {"sum"}, {"features"});
  circle.output("features");
  EXPECT_THAT(message_of([&] { opened(folder, circle); }), HasSubstr("unknown input 'features'"));
}

TEST(Onnx, PoolingOfTokensIsOverAllOfThem) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    OnnxWriter writer;
    writer.input("images", {1, 3, kSide, kSide});
    writer.integers("shape", {0, 3, -1});
    writer.node("Reshape", {"images", "shape"}, {"tokens"});
    writer.node(op, {"tokens"}, {"pooled"});
    writer.node("Flatten", {"pooled"}, {"features"});
    writer.output("features");
    const TempDir folder;
    const at::Tensor images = wave_images(2);
    const at::Tensor tokens = images.flatten(2);
    expect_near_to(opened(folder, writer)->forward(images),
                   op == std::string("GlobalMaxPool") ? std::get<0>(tokens.max(2)) : tokens.mean(2));
  }
}

TEST(Onnx, ASliceFromTheSmallestNumberBeginsAtTheFirstPlace) {
  OnnxWriter writer;
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("GlobalAveragePool", {"images"}, {"mean"});
  writer.node("Shape", {"mean"}, {"sizes"});
  writer.integers("from", {std::numeric_limits<int64_t>::min()});
  writer.integers("to", {-2});
  writer.node("Slice", {"sizes", "from", "to"}, {"front"});  // n and channels
  writer.node("Reshape", {"mean", "front"}, {"features"});
  writer.output("features");
  const TempDir folder;
  const at::Tensor images = wave_images(2);
  expect_near_to(opened(folder, writer)->forward(images), images.mean({2, 3}));
}

/// Returns a graph of one or more operators from images to "features", with a few constants to choose from.
template <typename Add>
OnnxWriter graph_of(const Add& add, int64_t side = kSide) {
  OnnxWriter writer;
  writer.input("images", {1, 3, side, side});
  writer.integers("zero", {0});
  writer.integers("one", {1});
  writer.integers("many", {100000});
  add(writer);
  writer.output("features");
  return writer;
}

TEST(Onnx, AnOperatorWithoutItsInputsIsNamedWithItsNode) {
  const TempDir folder;
  const auto refusal = [&](const std::string& op, const std::vector<std::string>& inputs) {
    return message_of([&] { opened(folder, graph_of([&](OnnxWriter& to) { to.node(op, inputs, {"features"}); })); });
  };
  EXPECT_THAT(refusal("Add", {"images"}),
              HasSubstr("encoder.onnx: Add 'node_features': missing input 2, expected at least 2"));
  EXPECT_THAT(refusal("Where", {"images", "images"}), HasSubstr("Where 'node_features': missing input 3"));
  EXPECT_THAT(refusal("Conv", {"images", ""}), HasSubstr("Conv 'node_features': missing input 2"));
  EXPECT_THAT(refusal("BatchNormalization", {"images", "one", "one", "one"}), HasSubstr("missing input 5"));
  for (const char* op : {"Relu", "Identity", "Softmax", "Concat", "Sum", "Flatten", "Clip", "GlobalAveragePool"})
    EXPECT_THAT(refusal(op, {}), HasSubstr(std::string(op) + " 'node_features': missing input 1")) << op;
}

TEST(Onnx, WhatIsLookedForAmongOperatorsHasItsInputs) {
  const TempDir folder;
  const auto centred = [](OnnxWriter& to) {
    to.node("ReduceMean", {}, {"mean"}, {{{"axes", {-1}}}});
    to.node("Sub", {"images", "mean"}, {"difference"});
    to.node("Sqrt", {}, {"root"});
    to.node("Div", {"difference", "root"}, {"features"});
  };
  EXPECT_THAT(message_of([&] { opened(folder, graph_of(centred)); }),
              HasSubstr("ReduceMean 'node_mean': missing input 1"));
}

TEST(Onnx, ARangeOfNoNumberIsRefused) {
  const TempDir folder;
  const auto range = [](OnnxWriter& to) {
    to.integers("none", {});
    to.node("Range", {"none", "many", "one"}, {"places"});
    to.node("Unsqueeze", {"images", "places"}, {"features"});
  };
  EXPECT_THAT(message_of([&] { opened(folder, graph_of(range)); }),
              HasSubstr("Range 'node_places': input 1 has 0 numbers, expected one"));
}

TEST(Onnx, ATensorOfVeryManySizesIsRefused) {
  const TempDir folder;
  const auto unsqueezed = [](OnnxWriter& to) {
    to.node("Range", {"zero", "many", "one"}, {"places"});
    to.node("Unsqueeze", {"images", "places"}, {"features"});
  };
  EXPECT_THAT(message_of([&] { opened(folder, graph_of(unsqueezed)); }),
              HasSubstr("Unsqueeze 'node_features': the output has 100004 axes, expected at most 64"));
}

TEST(Onnx, WhatWouldTakeHoursForAnImageIsRefusedBeforeItRuns) {
  const TempDir folder;
  constexpr int64_t kLarge = 1024;
  const auto refusal = [&](const auto& add) {
    return message_of([&] { opened(folder, graph_of(add, kLarge), plain(kLarge)); });
  };
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const auto pool = [op](OnnxWriter& to) {
      to.node(op, {"images"}, {"features"}, {{{"kernel_shape", {1000, 1000}}, {"pads", {500, 500, 500, 500}}}});
    };
    EXPECT_THAT(refusal(pool), HasSubstr(std::string(op) + " 'node_features': it takes 5e+13 multiply-adds"));
  }
  const auto large_windows = [](OnnxWriter& to) {
    to.integers("shape", {8, 3, 512, 512});
    to.node("ConstantOfShape", {"shape"}, {"weight"});
    to.node("Conv", {"images", "weight"}, {"features"}, {{{"pads", {256, 256, 256, 256}}}});
  };
  EXPECT_THAT(refusal(large_windows), HasSubstr("expected at most 1e+13 for an image"));
}

TEST(Onnx, WeightsThatAreKeptMuchLargerThanTheyAreCount) {
  const TempDir folder;
  const auto padded = [](OnnxWriter& to) {
    to.raw("first", weights({4, 3, 1, 1}));
    to.integers("shape", {1, 4, 1032, 1032});
    to.node("ConstantOfShape", {"shape"}, {"second"});
    to.node("Conv", {"images", "first"}, {"maps"});
    to.node("Conv", {"maps", "second"}, {"features"}, {{{"pads", {512, 512, 512, 512}}}});
  };
  EXPECT_THAT(message_of([&] { opened(folder, graph_of(padded)); }),
              HasSubstr("Conv 'node_features': computed constants and copied weights have more than"));
}

TEST(Onnx, AConvolutionInDoubleDoesNotWriteOutTooManyWindows) {
  const TempDir folder;
  const auto twice_as_wide = [](OnnxWriter& to) {
    to.raw("weight", at::ones({1, 3, 11, 11}, at::kDouble), 11);
    to.node("Cast", {"images"}, {"wide"}, {{}, {{"to", 11}}});
    to.node("Conv", {"wide", "weight"}, {"features"}, {{{"pads", {256, 256, 256, 256}}}});
  };
  EXPECT_THAT(message_of([&] { opened(folder, graph_of(twice_as_wide)); }),
              HasSubstr("Conv 'node_features': the output has more than 67108864 values"));
}

TEST(Onnx, WeightsThatConvolutionsShareAreNotFoldedForEach) {
  const TempDir folder;
  const auto shared = [](OnnxWriter& to) {
    to.raw("weight", weights({3, 3, 1, 1}));
    to.raw("scale", at::tensor({1.5F, 0.5F, 2.F}));
    to.raw("shift", at::tensor({0.1F, -0.2F, 0.3F}));
    to.node("Conv", {"images", "weight"}, {"a"});
    to.node("BatchNormalization", {"a", "scale", "shift", "shift", "scale"}, {"b"});
    to.node("Conv", {"b", "weight"}, {"c"});
    to.node("BatchNormalization", {"c", "scale", "shift", "shift", "scale"}, {"d"});
    to.node("BatchNormalization", {"d", "scale", "shift", "shift", "scale"}, {"features"});
  };
  write_file(folder / "shared.onnx", graph_of(shared).bytes());
  onnx::Model model = onnx::read_model(folder / "shared.onnx");
  onnx::simplify(model, "features");
  EXPECT_EQ(model.constants.size(), 3U);
  EXPECT_EQ(model.nodes.size(), 5U);
}

TEST(Onnx, FrozenItGivesTheSameFeatures) {
  const TempDir folder;
  OnnxWriter writer;
  writer.input("images", {1, 3, kSide, kSide});
  writer.node("Conv", {"images", "first"}, {"maps"}, {{{"pads", {1, 1, 1, 1}}}});
  writer.node("Relu", {"maps"}, {"positive"});
  writer.node("Conv", {"positive", "second", "bias"}, {"more"}, {{{"pads", {0, 0, 1, 1}}, {"strides", {2, 2}}}});
  writer.node("Relu", {"more"}, {"all"});
  writer.node("Conv", {"all", "third"}, {"signed"});
  writer.node("Add", {"signed", "all"}, {"sum"});
  writer.node("GlobalAveragePool", {"sum"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.output("features", {1, 4});
  writer.raw("first", weights({4, 3, 3, 3}));
  writer.raw("second", weights({4, 4, 3, 3}).roll(3));
  writer.raw("bias", weights({4}));
  writer.raw("third", weights({4, 4, 1, 1}).roll(2));
  const auto backbone = opened(folder, writer);
  const at::Tensor images = wave_images(9);
  const at::Tensor expected = backbone->forward(images);
  const at::Tensor first = at::conv2d(images, weights({4, 3, 3, 3}), {}, 1, 1).relu();
  const at::Tensor all =
      at::conv2d(at::constant_pad_nd(first, {0, 1, 0, 1}), weights({4, 4, 3, 3}).roll(3), weights({4}), 2).relu();
  expect_near_to(expected, (at::conv2d(all, weights({4, 4, 1, 1}).roll(2)) + all).mean({2, 3}));
  const int threads = at::get_num_threads();
  for (const int some : {1, 2}) {
    at::set_num_threads(some);
    const auto frozen = opened(folder, writer);
    frozen->freeze();
    expect_near_to(frozen->forward(images), expected);
    expect_near_to(frozen->forward(images.slice(0, 0, 1)), expected.slice(0, 0, 1));
    EXPECT_EQ(frozen->most_images_a_pass() < 100, some == 1);
  }
  at::set_num_threads(threads);
}

TEST(Onnx, ItIsUsedAsItIs) {
  const TempDir folder;
  OnnxWriter writer = convolving_graph();
  writer.raw("weight", weights({4, 3, 3, 3}));
  const auto backbone = opened(folder, writer);
  EXPECT_FALSE(backbone->options());
  EXPECT_THAT(message_of([&] { backbone->set_mode(BackboneMode::kTrain); }), HasSubstr("cannot be trained"));
  EXPECT_EQ(backbone->state_dict().front().first, "weight");
}

TEST(BatchAxis, IsFoundByTheNumberOfPlacesBeforeIt) {
  using onnx::reshaped;
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(reshaped({1, 12, 64}, Sizes{5, 12, 64}, {1, 12, 64}), (Sizes{5, 12, 64}));
  EXPECT_EQ(reshaped({197, 12, 64}, Sizes{197, 5, 768}, {197, 1, 768}), (Sizes{197, 60, 64}));
  EXPECT_EQ(reshaped({64, 49, 96}, Sizes{5, 8, 8, 49, 96}, {1, 8, 8, 49, 96}), (Sizes{320, 49, 96}));
  EXPECT_EQ(reshaped({3, 4}, Sizes{3, 4}, {3, 4}), (Sizes{3, 4}));
  EXPECT_THROW(reshaped({8, 6}, Sizes{3, 5, 16}, {3, 1, 16}), Error);
}

}  // namespace
}  // namespace protocom
