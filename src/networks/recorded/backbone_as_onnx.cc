#include "networks/detail/backbone_as_onnx.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "encoders/onnx_graph_writer.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "networks/detail/torchscript_backbone.h"
#include "networks/onnx/detail/encoder.h"
#include "networks/recorded/detail/writing.h"

namespace protocom {
namespace {

using onnx::GraphWriter;
using onnx::ValueType;
using recorded::Recording;

/// Greatest difference in a feature by another order of sums, relative to the largest.
constexpr float kSameFeatures = 1e-3F;

/// Returns RGB in [0, 1], no two images alike.
at::Tensor waves(int64_t count, int64_t side) {
  return at::arange(count * 3 * side * side, at::kFloat).mul(0.37).sin().mul(0.5).add(0.5).view({count, 3, side, side});
}

Recording record(Backbone& network, int64_t count) {
  const auto run = [&](torch::jit::Stack images) -> torch::jit::Stack {
    return {network.forward(images.at(0).toTensor())};
  };
  const auto unnamed = [](const at::Tensor&) { return std::string(); };
  return {count, torch::jit::tracer::trace({waves(count, network.image_size())}, run, unnamed, /*strict=*/true,
                                           /*force_outplace=*/true)
                     .first->graph};
}

/// Records for `first` and `second` images; if equal, the file has that fixed batch. Its weights are in a file beside
/// it, since they may exceed the size limit of one file.
std::string onnx_of(Backbone& network, int64_t first, int64_t second, const std::filesystem::path& weights) {
  GraphWriter graph(onnx::Weights::kFloat32, std::make_shared<onnx::TensorStore>(weights, weights.filename().string()));
  const int64_t count = first == second ? first : -1;
  graph.input("image", ValueType::kFloat32, {count, 3, network.image_size(), network.image_size()});
  recorded::Writing writing(graph);
  const std::string feature = writing.write(record(network, first), record(network, second));
  graph.name_output(feature, "feature", ValueType::kFloat32, {count, network.dim()});
  return graph.model({});
}

std::string onnx_of(Backbone& network, const std::filesystem::path& weights) {
  try {
    return onnx_of(network, 2, 3, weights);
  } catch (const recorded::UnequalRecordings&) {
    return onnx_of(network, 1, 1, weights);
  }
}

/// Throws Error unless the file gives the network's features.
void check_same(Backbone& network, const std::filesystem::path& file) {
  const at::Tensor images = waves(3, network.image_size()).flip(0).contiguous();
  const at::Tensor own = network.forward(images), written = onnx::Encoder(onnx::read_model(file), {}).features(images);
  const float apart = (own - written).abs().max().item<float>(), largest = own.abs().max().item<float>();
  if (!(apart <= kSameFeatures * largest))
    fail("its exported features differ by {:.2g} (the largest is {:.2g}): give the encoder as ONNX", apart, largest);
}

}  // namespace

std::filesystem::path backbone_as_onnx(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                       const std::filesystem::path& folder) {
  const auto network = open_backbone(path, asked);
  return reading(path, [&] {
    if (dynamic_cast<TorchScriptBackbone*>(network.get()) != nullptr)
      fail("a TorchScript file is a program, which ONNX cannot hold: give the encoder as ONNX (torch.onnx.export)");
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : network->parameters()) parameter.set_requires_grad(false);
    network->forward(waves(2, network->image_size()));  // before recording: networks prepare some values once
    network->forward(waves(3, network->image_size()));
    std::filesystem::path written = folder / "encoder.onnx";
    write_file(written, onnx_of(*network, folder / "encoder.onnx.data"));
    check_same(*network, written);
    return written;
  });
}

}  // namespace protocom
