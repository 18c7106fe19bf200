#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/layers.h"

/// CLIP's ResNets (Radford et al. 2021) under open_clip's names: strided by averages, with a mean that attends to all
/// positions.
namespace protocom::huggingface {
namespace {

constexpr double kClipResNetEpsilon = 1e-5;

/// The attention of the mean of all positions to itself and to them.
struct MeanAttention {
  at::Tensor positions;  // [1 + places, w], the mean's first
  Linear query, key, value, projection;
  int64_t heads;
};

class ClipResNet : public ConvolutionNetwork {
 public:
  ClipResNet(std::vector<ConvolutionBlock> blocks, MeanAttention pool)
      : ConvolutionNetwork(std::move(blocks)), pool_(std::move(pool)) {}

  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    const at::Tensor places = maps(images).flatten(2).transpose(1, 2);
    if (places.size(1) + 1 != pool_.positions.size(0))
      fail("images of {}x{} pixels have {} places, expected {}", images.size(3), images.size(2), places.size(1),
           pool_.positions.size(0) - 1);
    const at::Tensor x = at::cat({places.mean(1, /*keepdim=*/true), places}, 1) + pool_.positions;
    const at::Tensor query = pool_.query(x.narrow(1, 0, 1));
    return pool_.projection(attention(query, pool_.key(x), pool_.value(x), pool_.heads)).select(1, 0);
  }

 private:
  MeanAttention pool_;
};

class ClipResNetReader {
 public:
  explicit ClipResNetReader(Weights& weights) : weights_(weights) {}

  std::vector<ConvolutionBlock> read() {
    std::vector<ConvolutionBlock> blocks(1);
    blocks[0].steps = {step("conv1", "bn1", 2, relu_), step("conv2", "bn2", 1, relu_), step("conv3", "bn3", 1, relu_)};
    blocks[0].steps.back().averaged = true;
    for (int64_t stage = 1; stage <= 4; ++stage) {
      const std::string at = "layer" + std::to_string(stage) + ".";
      const int64_t count = weights_.count(at, ".conv1.weight");
      for (int64_t i = 0; i < count; ++i) blocks.push_back(block(at + std::to_string(i), stage > 1 && i == 0));
    }
    return blocks;
  }
  [[nodiscard]] int64_t width() const { return width_; }

 private:
  ConvolutionStep step(const std::string& convolution, const std::string& norm, int64_t stride, Activation activation) {
    ConvolutionStep made{folded(weights_, convolution, norm, width_, stride, kClipResNetEpsilon), activation};
    width_ = made.convolution.out();
    return made;
  }
  ConvolutionBlock block(const std::string& at, bool halves) {
    ConvolutionBlock made;
    if (weights_.has(at + ".downsample.0.weight"))
      made.shortcut = folded(weights_, at + ".downsample.0", at + ".downsample.1", width_, 1, kClipResNetEpsilon);
    made.averaged = halves;
    made.steps = {step(at + ".conv1", at + ".bn1", 1, relu_), step(at + ".conv2", at + ".bn2", 1, relu_),
                  step(at + ".conv3", at + ".bn3", 1, kNoActivation)};
    made.steps[1].averaged = halves;
    made.added = true;
    made.after = relu_;
    return made;
  }

  Weights& weights_;
  Activation relu_ = activation_of("relu");
  int64_t width_ = 3;
};

}  // namespace

std::unique_ptr<Network> make_open_clip_resnet(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "CLIP ResNet", "attnpool.q_proj.weight");
  ClipResNetReader reader(weights);
  std::vector<ConvolutionBlock> blocks = reader.read();
  const int64_t width = reader.width();
  MeanAttention pool;
  pool.positions = weights.take("attnpool.positional_embedding", {-1, width});
  pool.query = linear(weights, "attnpool.q_proj", width, width);
  pool.key = linear(weights, "attnpool.k_proj", width, width);
  pool.value = linear(weights, "attnpool.v_proj", width, width);
  const at::Tensor last = weights.take("attnpool.c_proj.weight", {-1, width});
  pool.projection = {last, weights.take("attnpool.c_proj.bias", {last.size(0)})};
  // open_clip: the stem's width times 32 over the head width; the last maps have that width
  pool.heads = width / config_integer(config, "head_width", 64);
  if (pool.heads < 1 || width % pool.heads != 0)
    fail("open_clip_config.json: heads of {} do not divide the width of {}", width / std::max<int64_t>(pool.heads, 1),
         width);
  weights.check_all_taken({});
  return std::make_unique<ClipResNet>(std::move(blocks), std::move(pool));
}

}  // namespace protocom::huggingface
