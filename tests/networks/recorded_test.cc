// Networks of LibTorch, written as ONNX and read back.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/script.h>

#include "base/error.h"
#include "encoders/encoder_as_onnx.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "networks/onnx/detail/encoder.h"
#include "networks/recorded/detail/writing.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::recorded {
namespace {

using protocom::testing::made_up;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kSide = 8;

using Function = at::Tensor (*)(const at::Tensor& images);

at::Tensor pictures(int64_t count) { return made_up("pictures", {count, 3, kSide, kSide}).to(at::kFloat).contiguous(); }
at::Tensor weights(at::IntArrayRef sizes) { return made_up("weights", sizes).to(at::kFloat).contiguous(); }

Recording record(Function function, int64_t count) {
  const auto run = [&](torch::jit::Stack in) -> torch::jit::Stack { return {function(in.at(0).toTensor())}; };
  const auto unnamed = [](const at::Tensor&) { return std::string(); };
  return {count, torch::jit::tracer::trace({pictures(count)}, run, unnamed, true, true).first->graph};
}

/// Returns the bytes of an ONNX file.
std::string written(Function function, int64_t dim) {
  onnx::GraphWriter graph;
  graph.input("image", onnx::ValueType::kFloat32, {-1, 3, kSide, kSide});
  Writing writing(graph);
  const std::string feature = writing.write(record(function, 2), record(function, 3));
  graph.name_output(feature, "feature", onnx::ValueType::kFloat32, {-1, dim});
  return graph.model({});
}

void expect_written(Function function) {
  const at::NoGradGuard no_grad;
  const TempDir folder;
  write_file(folder / "function.onnx", written(function, function(pictures(1)).size(1)));
  onnx::Encoder encoder(onnx::read_model(folder / "function.onnx"), "");
  for (const int64_t count : {1, 2, 5}) {
    const at::Tensor own = function(pictures(count));
    EXPECT_LT((encoder.features(pictures(count)) - own).abs().max().item<float>(),
              1e-5F * (1 + own.abs().max().item<float>()))
        << count;
  }
}

TEST(Recorded, NumbersAreWhatLibTorchMakesOfThem) {
  for (const Function function : std::initializer_list<Function>{
           [](const at::Tensor& x) { return at::leaky_relu(x, 0.2).flatten(1); },
           [](const at::Tensor& x) { return at::hardtanh(x, -0.5, 0.25).flatten(1); },
           [](const at::Tensor& x) { return at::clamp(x, -0.25).flatten(1); },
           [](const at::Tensor& x) { return at::clamp_min(x, 0.1).flatten(1); },
           [](const at::Tensor& x) { return at::amax(x, {2}).flatten(1); },
           [](const at::Tensor& x) { return at::clamp(x, c10::optional<at::Scalar>(), 0.5).flatten(1); },
           [](const at::Tensor& x) { return at::hardsigmoid(5 * x).flatten(1); },
           [](const at::Tensor& x) { return at::hardswish(5 * x).flatten(1); },
           [](const at::Tensor& x) { return at::silu(x).flatten(1); },
           [](const at::Tensor& x) { return at::gelu(x).flatten(1); },
           [](const at::Tensor& x) { return at::gelu(x, "tanh").flatten(1); },
           [](const at::Tensor& x) { return at::sub(x, at::sigmoid(x), 3).flatten(1); },
           [](const at::Tensor& x) { return at::add(x.abs(), x.tanh(), 0.5).sqrt().flatten(1); },
           [](const at::Tensor& x) { return at::softmax(x, -1).flatten(1); },
           [](const at::Tensor& x) { return (-x).exp().pow(2.0).flatten(1); },
           [](const at::Tensor& x) { return x.clone().add_(1).mul_(x).relu_().flatten(1); }})
    expect_written(function);
}

TEST(Recorded, WindowsAreWhatLibTorchMakesOfThem) {
  for (const Function function : std::initializer_list<Function>{
           [](const at::Tensor& x) {
             return at::conv2d(x, weights({6, 1, 3, 3}), at::Tensor(), 2, 1, 1, 3).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::conv2d(x, weights({4, 3, 3, 1}), weights({4}), 1, at::IntArrayRef({2, 0}),
                               at::IntArrayRef({2, 1}))
                 .flatten(1);
           },
           [](const at::Tensor& x) { return at::max_pool2d(x, 3, 2, 1, 1, true).flatten(1); },
           [](const at::Tensor& x) { return at::avg_pool2d(x, 3, 2, 1, false, false).flatten(1); },
           [](const at::Tensor& x) { return at::avg_pool2d(x, 3, {}, 1).flatten(1); },
           [](const at::Tensor& x) {
             return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::constant_pad_nd(x, {1, 2, 0, 3}, 0.5).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::batch_norm(x, weights({3}), {}, weights({3}), weights({3}).abs() + 1, false, 0.1, 1e-3, false)
                 .flatten(1);
           },
           [](const at::Tensor& x) {
             return at::layer_norm(x, {kSide, kSide}, {}, {}, 1e-3).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::linalg_vector_norm(x, 2, at::IntArrayRef({-1, 2}));
           },
           [](const at::Tensor& x) {
             return x.sum(at::IntArrayRef({2, 3})) + x.mean(at::IntArrayRef({2, 3}), true).flatten(1);
           }})
    expect_written(function);
}

TEST(Recorded, PlacesAreWhereLibTorchBringsThem) {
  for (const Function function : std::initializer_list<Function>{
           [](const at::Tensor& x) {
             return x.permute({0, -2, 3, 1}).transpose(1, -1).flatten(1);
           },
           [](const at::Tensor& x) { return x.slice(2, 1, 7, 2).flatten(1); },
           [](const at::Tensor& x) {
             return at::roll(x, {3, -1}, {2, -1}).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::upsample_bilinear2d(x, {5, 11}, false).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::upsample_bilinear2d(x, {5, 11}, true).flatten(1);
           },
           [](const at::Tensor& x) { return x.narrow(3, 2, 3).flatten(1); },
           [](const at::Tensor& x) { return x.select(2, -1).flatten(1); },
           [](const at::Tensor& x) {
             return at::cat({x, 2 * x}, -1).flatten(1);
           },
           [](const at::Tensor& x) {
             const auto parts = x.chunk(2, 3);
             return (parts[0] * parts[1]).flatten(1);
           },
           [](const at::Tensor& x) {
             const auto parts = x.split(3, 2);
             return at::cat({parts[2], parts[0]}, 2).flatten(1);
           },
           [](const at::Tensor& x) {
             return at::cat({weights({1, 1, kSide}).expand({x.size(0), 1, kSide}), x.flatten(1, 2)}, 1).flatten(1);
           },
           [](const at::Tensor& x) {
             return x.reshape({x.size(0) * 3, 64}).unsqueeze(0).squeeze(0).view({x.size(0), 192});
           },
           [](const at::Tensor& x) {
             return at::linear(x.flatten(1), weights({5, 192}), weights({5}));
           },
           [](const at::Tensor& x) {
             return at::addmm(weights({5}), x.flatten(1), weights({192, 5}));
           },
           [](const at::Tensor& x) { return at::matmul(x, x.transpose(-2, -1)).flatten(1); }})
    expect_written(function);
}

TEST(Recorded, WhatCannotBeWrittenIsNamed) {
  const at::NoGradGuard no_grad;
  EXPECT_THAT(message_of([] { written([](const at::Tensor& x) { return at::cumsum(x, 1).flatten(1); }, 192); }),
              AllOf(HasSubstr("'aten::cumsum'"), HasSubstr("give the encoder as ONNX")));
  EXPECT_THAT(message_of([] {
                written([](const at::Tensor&) { return at::ones({2, 3}); }, 3);
              }),
              HasSubstr("do not depend on the images"));
  EXPECT_THROW(written([](const at::Tensor& x) { return x.size(0) == 2 ? x.flatten(1) : x.relu().flatten(1); }, 192),
               UnequalRecordings);
}

TEST(EncoderAsOnnx, OfATorchScriptFileIsRefused) {
  const TempDir folder;
  torch::jit::Module module("means");
  module.define("def forward(self, x):\n  return x.mean([2, 3])\n");
  module.save((folder / "means.pt").string());
  EncoderFileOptions sized;
  sized.preprocessing = Preprocessing{kSide};
  EXPECT_THAT(
      message_of([&] { encoder_as_onnx(folder / "means.pt", sized, folder.path()); }),
      AllOf(HasSubstr("means.pt"), HasSubstr("TorchScript file is a program"), HasSubstr("give the encoder as ONNX")));
  EXPECT_FALSE(std::filesystem::exists(folder / "encoder.onnx"));
}

}  // namespace
}  // namespace protocom::recorded
