#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/matrix.h"
#include "base/threads.h"
#include "encoders/encoder.h"
#include "encoders/onnx_model_parts.h"
#include "encoders/onnxruntime/library.h"
#include "encoders/onnxruntime/schema_errors.h"
#include "encoders/onnxruntime/session.h"
#include "encoders/onnxruntime/watched.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

// If the headers are installed, the offsets in the table are compared with them.
#if __has_include(<onnxruntime/onnxruntime_c_api.h>)
#include <onnxruntime/onnxruntime_c_api.h>

#include <cstddef>
namespace protocom::onnxruntime {
#define PROTOCOM_SAME_PLACE(Ours, theirs) static_assert(Ours::kIndex * sizeof(void*) == offsetof(OrtApi, theirs))
PROTOCOM_SAME_PLACE(GetErrorMessage, GetErrorMessage);
PROTOCOM_SAME_PLACE(CreateEnv, CreateEnv);
PROTOCOM_SAME_PLACE(CreateSessionFromArray, CreateSessionFromArray);
PROTOCOM_SAME_PLACE(DisableTelemetry, DisableTelemetryEvents);
PROTOCOM_SAME_PLACE(Run, Run);
PROTOCOM_SAME_PLACE(CreateSessionOptions, CreateSessionOptions);
PROTOCOM_SAME_PLACE(SetIntraOpNumThreads, SetIntraOpNumThreads);
PROTOCOM_SAME_PLACE(SetInterOpNumThreads, SetInterOpNumThreads);
PROTOCOM_SAME_PLACE(CreateRunOptions, CreateRunOptions);
PROTOCOM_SAME_PLACE(SetTerminate, RunOptionsSetTerminate);
PROTOCOM_SAME_PLACE(ReleaseRunOptions, ReleaseRunOptions);
PROTOCOM_SAME_PLACE(CreateTensorWithData, CreateTensorWithDataAsOrtValue);
PROTOCOM_SAME_PLACE(GetTensorData, GetTensorMutableData);
PROTOCOM_SAME_PLACE(GetElementType, GetTensorElementType);
PROTOCOM_SAME_PLACE(GetDimensionsCount, GetDimensionsCount);
PROTOCOM_SAME_PLACE(GetDimensions, GetDimensions);
PROTOCOM_SAME_PLACE(GetTensorInfo, GetTensorTypeAndShape);
PROTOCOM_SAME_PLACE(CreateCpuMemoryInfo, CreateCpuMemoryInfo);
PROTOCOM_SAME_PLACE(ReleaseStatus, ReleaseStatus);
PROTOCOM_SAME_PLACE(ReleaseMemoryInfo, ReleaseMemoryInfo);
PROTOCOM_SAME_PLACE(ReleaseSession, ReleaseSession);
PROTOCOM_SAME_PLACE(ReleaseValue, ReleaseValue);
PROTOCOM_SAME_PLACE(ReleaseTensorInfo, ReleaseTensorTypeAndShapeInfo);
PROTOCOM_SAME_PLACE(ReleaseSessionOptions, ReleaseSessionOptions);
PROTOCOM_SAME_PLACE(AddSessionConfigEntry, AddSessionConfigEntry);
PROTOCOM_SAME_PLACE(CreateAndRegisterAllocator, CreateAndRegisterAllocator);
PROTOCOM_SAME_PLACE(ReleaseArenaConfig, ReleaseArenaCfg);
PROTOCOM_SAME_PLACE(CreateArenaConfig, CreateArenaCfgV2);
#if ORT_API_VERSION >= 18
PROTOCOM_SAME_PLACE(AddFilesInMemory, AddExternalInitializersFromFilesInMemory);
#endif
#undef PROTOCOM_SAME_PLACE
static_assert(kFloat == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT && kFloat16 == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
}  // namespace protocom::onnxruntime
#endif

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::OnnxWriter;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

constexpr int64_t kSide = 8;
constexpr float kSameFeature = 1e-4F;

Array pixels(int64_t count) {
  Array made = Array::uninitialised({count, kSide, kSide, 3}, NumberType::kUInt8);
  for (int64_t i = 0; i < made.numel(); ++i) made.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + i / 64);
  return made;
}

at::Tensor weights(at::IntArrayRef sizes) { return at::arange(at::empty(sizes).numel(), at::kFloat).cos().view(sizes); }

EncoderFileOptions with(Engine engine, const std::string& output = {}) {
  EncoderFileOptions asked;
  asked.preprocessing = parse_preprocessing("half:size=8:resize=8");
  asked.engine = engine;
  asked.output = output;
  return asked;
}

/// Writes a convolution of four channels, stride 2: maps [n, 4, 4, 4], their means as features, and places as tokens.
OnnxWriter network(const std::vector<int64_t>& input) {
  OnnxWriter writer;
  writer.input("images", input);
  writer.raw("weight", weights({4, 3, 3, 3}));
  writer.node("Conv", {"images", "weight"}, {"maps"}, {{{"pads", {0, 0, 1, 1}}, {"strides", {2, 2}}}});
  writer.node("GlobalAveragePool", {"maps"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.integers("rows", {0, 4, 16});
  writer.node("Reshape", {"maps", "rows"}, {"columns"});
  writer.node("Transpose", {"columns"}, {"tokens"}, {{{"perm", {0, 2, 1}}}});
  return writer;
}

float largest_difference(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const Array first = a.to(NumberType::kFloat32);
  const Array second = b.to(NumberType::kFloat32);
  return (Eigen::Map<const Eigen::ArrayXf>(first.data<float>(), first.numel()) -
          Eigen::Map<const Eigen::ArrayXf>(second.data<float>(), second.numel()))
      .abs()
      .maxCoeff();
}

class OnnxRuntime : public ::testing::Test {
 protected:
  std::filesystem::path written(const OnnxWriter& writer) {
    write_file(folder_.path() / "net.onnx", writer.bytes());
    return folder_.path() / "net.onnx";
  }
  /// Expects the same features from both engines, for one image and for several.
  void expect_same(const OnnxWriter& writer, const std::string& output = {}) {
    const auto path = written(writer);
    const auto ours = open_encoder(path, with(Engine::kOnnxRuntime, output));
    const auto torch = open_encoder(path, with(Engine::kTorch, output));
    EXPECT_EQ(ours->engine(), "onnxruntime");
    EXPECT_EQ(torch->engine(), "torch");
    EXPECT_EQ(ours->dim(), torch->dim());
    for (const int64_t count : {1, 3, 7})
      EXPECT_LT(largest_difference(ours->features(pixels(count)), torch->features(pixels(count))), kSameFeature);
  }

  TempDir folder_;
};

TEST(OnnxRuntimeLibrary, ReportsOfOperatorsThatAreRegisteredTwiceAreDropped) {
  ::testing::internal::CaptureStderr();
  {
    const onnxruntime::SchemaErrors dropped;
    std::cerr << "Schema error: Trying to register schema with name Abs (domain:  version: 1)\n\nout of memory\n";
  }
  std::cerr << "Schema error: Trying to register schema later\n";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "out of memory\nSchema error: Trying to register schema later\n");
}

TEST_F(OnnxRuntime, GivesTheFeaturesOfLibTorchForABatchOfAnySize) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  expect_same(writer);
}

TEST_F(OnnxRuntime, TakesImagesOneByOneOrInTheBatchThatTheFileFixes) {
  for (const int64_t batch : {1, 4}) {
    OnnxWriter writer = network({batch, 3, kSide, kSide});
    writer.output("features", {batch, 4});
    const auto path = written(writer);
    const auto ours = open_encoder(path, with(Engine::kOnnxRuntime));
    const Array all = ours->features(pixels(7));
    for (int64_t i = 0; i < 7; ++i)
      EXPECT_LT(largest_difference(ours->features(pixels(7).rows(i, i + 1)), all.rows(i, i + 1)), kSameFeature);
  }
}

TEST_F(OnnxRuntime, MapsAndTokensArePooledAndGivenAsMaps) {
  for (const char* output : {"maps", "tokens"}) {
    OnnxWriter writer = network({-1, 3, kSide, kSide});
    writer.output(output);
    expect_same(writer);
    const auto path = written(writer);
    const Array ours = open_encoder(path, with(Engine::kOnnxRuntime))->maps(pixels(3));
    const Array torch = open_encoder(path, with(Engine::kTorch))->maps(pixels(3));
    EXPECT_EQ(ours.shape(), (Shape{3, 4, 4, 4}));
    EXPECT_LT(largest_difference(ours, torch), 1e-2F);  // float16
  }
}

TEST_F(OnnxRuntime, TheOutputMayBeAnyValueInside) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  expect_same(writer, "mean");
  EXPECT_THAT(message_of([&] { open_encoder(written(writer), with(Engine::kOnnxRuntime, "none")); }),
              HasSubstr("net.onnx"));
}

TEST_F(OnnxRuntime, TakesImagesWhoseChannelsAreLast) {
  OnnxWriter writer;
  writer.input("images", {-1, kSide, kSide, 3});
  writer.integers("places", {1, 2});
  writer.node("Transpose", {"images"}, {"planes"}, {{{"perm", {0, 3, 1, 2}}}});
  writer.node("GlobalAveragePool", {"planes"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.output("features", {-1, 3});
  expect_same(writer);
}

TEST_F(OnnxRuntime, TensorsOutsideTheFileAreRead) {
  const at::Tensor weight = weights({4, 3, 3, 3});
  write_file(folder_.path() / "weights.bin",
             std::string_view(static_cast<const char*>(weight.data_ptr()), weight.nbytes()));
  OnnxWriter writer;
  writer.input("images", {-1, 3, kSide, kSide});
  writer.outside("weight", weight, {{"location", "weights.bin"}});
  writer.node("Conv", {"images", "weight"}, {"maps"});
  writer.output("maps");
  expect_same(writer);
}

// Like a file of more than 2 GB, which it cannot parse.
TEST_F(OnnxRuntime, ParsesAFileWithoutItsLargeTensorsWhereItHasTooManyBytes) {
  const at::Tensor beside = weights({32, 16, 3, 3});
  write_file(folder_.path() / "weights.bin",
             std::string_view(static_cast<const char*>(beside.data_ptr()), beside.nbytes()));
  OnnxWriter writer;
  writer.input("images", {-1, 3, kSide, kSide});
  writer.raw("inside", weights({16, 3, 3, 3}));
  writer.outside("beside", beside, {{"location", "./weights.bin"}});
  writer.node("Conv", {"images", "inside"}, {"first"});
  writer.node("Conv", {"first", "beside"}, {"second"});
  writer.node("Relu", {"first"}, {"other"});
  writer.output("other");
  const auto path = written(writer);
  const auto maps = [&](int64_t most_bytes) {
    const auto parts = std::make_shared<const onnx::ModelParts>(path, "second", most_bytes);
    EXPECT_EQ(parts->files().size(), most_bytes == onnx::kMostBytes ? 0U : 2U);
    return onnxruntime::LoadedModel(parts, {}).run(
        "images", array_of(at::arange(kSide * kSide * 2 * 3, at::kFloat).sin().view({2, 3, kSide, kSide})), "second",
        false);
  };
  const Array whole = maps(onnx::kMostBytes);
  EXPECT_EQ(whole.shape(), (Shape{2, 32, 4, 4}));
  EXPECT_EQ(largest_difference(maps(1500), whole), 0);
}

TEST_F(OnnxRuntime, OneNetworkIsSharedByAllThatUseThreadsAlike) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features");
  const auto path = written(writer);
  const auto parts = [&] { return std::make_shared<const onnx::ModelParts>(path, ""); };
  const auto first = onnxruntime::shared_model(parts(), "hash", {2, false});
  EXPECT_EQ(onnxruntime::shared_model(parts(), "hash", {2, false}), first) << "from another reading of the file";
  for (const onnxruntime::ThreadUse& other : {onnxruntime::ThreadUse{1, false}, onnxruntime::ThreadUse{2, true}}) {
    const auto another = onnxruntime::shared_model(parts(), "hash", other);
    EXPECT_NE(another, first);
    EXPECT_TRUE(another->threads() == other);
  }
  EXPECT_NE(onnxruntime::shared_model(parts(), "another hash", {2, false}), first);
}

TEST_F(OnnxRuntime, FeaturesAreTheSameWithThreadsThatSpin) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features");
  const auto encoder = open_encoder(written(writer), with(Engine::kOnnxRuntime));
  const ThreadScope threads(2);
  const Array asleep = encoder->features(pixels(3));
  const SpinScope spin(true);
  EXPECT_EQ(largest_difference(encoder->features(pixels(3)), asleep), 0);
}

TEST_F(OnnxRuntime, WhatTheFileStatesOfItsImagesIsTaken) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  writer.metadata("preprocessing.json", R"({"image_size": 8, "mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]})");
  EncoderFileOptions nothing;
  nothing.engine = Engine::kOnnxRuntime;
  EXPECT_EQ(open_encoder(written(writer), nothing)->preprocessing().std.front(), 0.25);
  EXPECT_THAT(message_of([&] {
                OnnxWriter silent = network({-1, 3, -1, -1});
                silent.output("features");
                open_encoder(written(silent), nothing);
              }),
              HasSubstr("--preprocess"));
}

TEST_F(OnnxRuntime, FollowsTheThreadsThatThereAre) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  const auto encoder = open_encoder(written(writer), with(Engine::kOnnxRuntime));
  const Array before = encoder->features(pixels(2));
  const ThreadScope one(1);
  EXPECT_LT(largest_difference(encoder->features(pixels(2)), before), kSameFeature);
}

TEST_F(OnnxRuntime, ACallThatTakesTooMuchTimeIsLeftAndStopped) {
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  const auto forever = [stopped] {
    while (!*stopped) {
    }
  };
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(message_of([&] {
                onnxruntime::run_watched("for an image", {std::chrono::seconds(1)}, forever, [&] { *stopped = true; });
              }),
              HasSubstr("for an image, ONNX Runtime needs more than 1 s of a processor"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(11));
  EXPECT_TRUE(*stopped);
}

TEST_F(OnnxRuntime, ACallThatTakesTooMuchMemoryIsLeft) {
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  const auto grow = [stopped] {
    const std::string filled(size_t{200} << 20, 'x');
    while (!*stopped) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(filled.back(), 'x');
  };
  EXPECT_THAT(message_of([&] {
                onnxruntime::run_watched("to prepare the network", {std::chrono::seconds(30), int64_t{100} << 20}, grow,
                                         [&] { *stopped = true; });
              }),
              HasSubstr("to prepare the network, ONNX Runtime needs more than 0.1 GB of memory"));
}

TEST_F(OnnxRuntime, ACallThatEndsInTimeGivesWhatItThrows) {
  int made = 0;
  onnxruntime::run_watched(
      "", {std::chrono::seconds(30)}, [&] { made = 7; }, [] {});
  EXPECT_EQ(made, 7);
  EXPECT_EQ(message_of([] {
              onnxruntime::run_watched(
                  "", {std::chrono::seconds(30)}, [] { throw Error("wrong"); }, [] {});
            }),
            "wrong");
}

TEST_F(OnnxRuntime, WeightsThatWouldBeCopiedForManyOperatorsAreRefused) {
  OnnxWriter writer;
  writer.input("images", {-1, 3, kSide, kSide});
  writer.raw("first", weights({512, 3, 1, 1}));
  writer.raw("weight", weights({512, 512, 1, 1}));
  writer.node("Conv", {"images", "first"}, {"c0"});
  constexpr int kTimes = 1100;  // of 2^18 values
  for (int i = 0; i < kTimes; ++i)
    writer.node("Conv", {"c" + std::to_string(i), "weight"}, {"c" + std::to_string(i + 1)});
  writer.output("c" + std::to_string(kTimes));
  EXPECT_THAT(message_of([&] { open_encoder(written(writer), with(Engine::kOnnxRuntime)); }),
              HasSubstr("share constants"));
}

TEST_F(OnnxRuntime, MoreOperatorsThanAnyNetworkHasAreRefused) {
  OnnxWriter writer;
  writer.input("images", {-1, 3, kSide, kSide});
  constexpr int kTimes = 100'001;
  for (int i = 0; i < kTimes; ++i)
    writer.node("Relu", {i == 0 ? "images" : "r" + std::to_string(i)}, {"r" + std::to_string(i + 1)});
  writer.output("r" + std::to_string(kTimes));
  EXPECT_THAT(message_of([&] { open_encoder(written(writer), with(Engine::kOnnxRuntime)); }),
              HasSubstr("100000 operators"));
}

TEST_F(OnnxRuntime, RefusesWhatItCannotCompute) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  const auto path = written(writer);
  const auto encoder = open_encoder(path, with(Engine::kOnnxRuntime));
  EXPECT_THROW(encoder->prepare({"cuda", Precision::kFloat32}), UsageError);
  EXPECT_THROW(encoder->prepare({"cpu", Precision::kBFloat16}), UsageError);
  EXPECT_NO_THROW(encoder->prepare({"auto", Precision::kAuto}));

  write_file(folder_.path() / "cut.onnx", read_file(path).substr(0, 200));
  EXPECT_THAT(message_of([&] { open_encoder(folder_.path() / "cut.onnx", with(Engine::kOnnxRuntime)); }),
              HasSubstr("cut.onnx"));
  OnnxWriter greedy = network({int64_t{1} << 40, 3, kSide, kSide});
  greedy.output("features");
  EXPECT_THAT(message_of([&] { open_encoder(written(greedy), with(Engine::kOnnxRuntime)); }),
              HasSubstr("expected at most 256"));
  OnnxWriter unknown = network({-1, 3, kSide, kSide});
  unknown.node("Sorcery", {"features"}, {"magic"});
  unknown.output("magic", {-1, 4});
  EXPECT_THAT(message_of([&] { open_encoder(written(unknown), with(Engine::kOnnxRuntime)); }),
              ::testing::AllOf(HasSubstr("ONNX Runtime"), HasSubstr("Sorcery")));
  write_file(folder_.path() / "text.txt", "no network");
  EXPECT_THAT(message_of([&] { open_encoder(folder_.path() / "text.txt", with(Engine::kOnnxRuntime)); }),
              HasSubstr("ONNX"));
}

// A network of a few bytes requests a terabyte: it fails, and the process continues.
TEST_F(OnnxRuntime, MemoryIsBounded) {
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.integers("many", {1 << 20, 1 << 18});
  writer.node("Shape", {"features"}, {"shape"});
  writer.node("Gather", {"shape", "axis"}, {"n"});
  writer.integers("axis", {0});
  writer.node("Mul", {"many", "n"}, {"sizes"});
  writer.node("ConstantOfShape", {"sizes"}, {"zeros"});
  writer.node("ReduceSum", {"zeros"}, {"sum"}, {{}, {{"keepdims", 0}}});
  writer.node("Add", {"features", "sum"}, {"all"});
  writer.output("all", {-1, 4});
  EXPECT_THAT(message_of([&] { open_encoder(written(writer), with(Engine::kOnnxRuntime)); }),
              HasSubstr("ONNX Runtime"));
}

TEST_F(OnnxRuntime, IsTheEngineWhereNobodyAsksForOne) {
  if (!runs_on_processor("auto")) GTEST_SKIP() << "a GPU is here: LibTorch is the engine";
  OnnxWriter writer = network({-1, 3, kSide, kSide});
  writer.output("features", {-1, 4});
  EXPECT_EQ(open_encoder(written(writer), with(Engine::kAuto))->engine(), "onnxruntime");
}

TEST(OnnxRuntimeLibrary, SaysItsVersion) { EXPECT_THAT(onnxruntime::Library::get().version(), HasSubstr("1.")); }

}  // namespace
}  // namespace protocom
