#include "base/error.h"
#include "base/json_text.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/network.h"

namespace protocom::huggingface {
namespace {

constexpr double kBatchNormEpsilon = 1e-5;

/// Returns numbers of config.json, one per stage.
std::vector<int64_t> sizes_of(const nlohmann::json& config, const char* name, std::vector<int64_t> usual) {
  const auto found = config.find(name);
  if (found == config.end()) return usual;
  std::vector<int64_t> sizes;
  if (found->is_array()) {
    for (const auto& item : *found) sizes.push_back(item.is_number_integer() ? item.get<int64_t>() : 0);
  }
  for (const int64_t size : sizes) {
    if (size < 1 || size > 1 << 16) fail("config.json: '{}' is out of range: {}", name, excerpt(json_text(*found)));
  }
  if (sizes.empty() || sizes.size() > 16)
    fail("config.json: '{}' is out of range: {}", name, excerpt(json_text(*found)));
  return sizes;
}

/// The properties of a block in the checkpoint.
struct ResNetPlace {
  std::string name;
  int64_t in, out, stride;
  bool bottleneck, stride_first;
};

ConvolutionBlock resnet_block(Weights& weights, const ResNetPlace& place, Activation activation) {
  const int64_t inside = place.bottleneck ? place.out / 4 : place.out;
  const int64_t stride = place.stride;
  std::vector<ConvolutionSizes> sizes;
  if (place.bottleneck) {
    sizes = {{place.in, inside, 1, place.stride_first ? stride : 1},
             {inside, inside, 3, place.stride_first ? 1 : stride},
             {inside, place.out, 1}};
  } else {
    sizes = {{place.in, place.out, 3, stride}, {place.out, place.out, 3}};
  }
  ConvolutionBlock block;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = place.name + ".layer." + std::to_string(i);
    block.steps.push_back({folded(weights, name + ".convolution", name + ".normalization", sizes[i], kBatchNormEpsilon),
                           i + 1 < sizes.size() ? activation : nullptr});
  }
  block.added = true;
  block.after = activation;
  if (place.in != place.out || stride != 1) {
    block.shortcut = folded(weights, place.name + ".shortcut.convolution", place.name + ".shortcut.normalization",
                            {place.in, place.out, 1, stride}, kBatchNormEpsilon);
  }
  return block;
}

}  // namespace

std::unique_ptr<Network> make_resnet(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "ResNet", "embedder.embedder.convolution.weight");
  const int64_t stem = config_integer(config, "embedding_size", 64);
  const std::vector<int64_t> widths = sizes_of(config, "hidden_sizes", {256, 512, 1024, 2048});
  const std::vector<int64_t> depths = sizes_of(config, "depths", {3, 4, 6, 3});
  if (widths.size() != depths.size()) fail("config.json: hidden_sizes and depths differ in length");
  const std::string type = config_text(config, "layer_type", "bottleneck");
  if (type != "basic" && type != "bottleneck")
    fail("config.json: unknown layer_type '{}': expected basic or bottleneck", excerpt(type));
  ResNetPlace place{"", stem, 0, 1, type == "bottleneck", config_flag(config, "downsample_in_bottleneck", false)};
  const Activation activation = activation_of(config_text(config, "hidden_act", "relu"));
  std::vector<ConvolutionBlock> blocks(1);
  blocks[0].steps.push_back({folded(weights, "embedder.embedder.convolution", "embedder.embedder.normalization",
                                    {3, stem, 7, 2}, kBatchNormEpsilon),
                             activation});
  blocks[0].max_pooled = true;
  const bool halves = config_flag(config, "downsample_in_first_stage", false);
  for (size_t s = 0; s < widths.size(); ++s) {
    for (int64_t i = 0; i < depths[s]; ++i) {
      place.name = "encoder.stages." + std::to_string(s) + ".layers." + std::to_string(i);
      place.out = widths[s];
      place.stride = i == 0 && (s > 0 || halves) ? 2 : 1;
      blocks.push_back(resnet_block(weights, place, activation));
      place.in = place.out;
    }
  }
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

}  // namespace protocom::huggingface
