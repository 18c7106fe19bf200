#include <algorithm>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/network.h"

/// RegNetX and RegNetY (Radosavovic et al. 2020) under the names of `transformers` and of timm.
namespace protocom::huggingface {
namespace {

constexpr double kRegNetEpsilon = 1e-5;

struct RegNetNames {
  const char *stem, *convolution, *norm, *stage, *block, *first, *second, *third, *third_behind_excite, *reduce,
      *expand, *shortcut;
  int64_t from;
};

constexpr RegNetNames kOfTransformers = {"embedder.embedder",
                                         ".convolution",
                                         ".normalization",
                                         "encoder.stages.",
                                         ".layers.",
                                         ".layer.0",
                                         ".layer.1",
                                         ".layer.2",
                                         ".layer.3",
                                         ".layer.2.attention.0",
                                         ".layer.2.attention.2",
                                         ".shortcut",
                                         0};
constexpr RegNetNames kOfTimm = {"stem",   ".conv",  ".bn",     "s",       ".b",          ".conv1", ".conv2",
                                 ".conv3", ".conv3", ".se.fc1", ".se.fc2", ".downsample", 1};

/// Reads the blocks in order.
class RegNetReader {
 public:
  RegNetReader(Weights& weights, const RegNetNames& names, Activation activation)
      : weights_(weights), names_(names), activation_(activation) {}

  std::vector<ConvolutionBlock> read(int64_t first_stride) {
    std::vector<ConvolutionBlock> blocks(1);
    blocks[0].steps.push_back(step(names_.stem, 2, activation_));
    for (int64_t stage = 0; is_there(stage, 0); ++stage) {
      const int64_t stride = stage > 0 ? 2 : first_stride;
      for (int64_t i = 0; is_there(stage, i); ++i) blocks.push_back(block(name_of(stage, i), i == 0 ? stride : 1));
    }
    return blocks;
  }

 private:
  [[nodiscard]] std::string name_of(int64_t stage, int64_t block) const {
    return names_.stage + std::to_string(stage + names_.from) + names_.block + std::to_string(block + names_.from);
  }
  [[nodiscard]] bool is_there(int64_t stage, int64_t block) const {
    return weights_.has(name_of(stage, block) + names_.first + names_.convolution + ".weight");
  }
  [[nodiscard]] Convolution convolution(const std::string& at, int64_t stride) {
    return folded(weights_, at + names_.convolution, at + names_.norm, width_, stride, kRegNetEpsilon);
  }
  [[nodiscard]] ConvolutionStep step(const std::string& at, int64_t stride, Activation activation) {
    ConvolutionStep made{convolution(at, stride), activation};
    width_ = made.convolution.out();
    return made;
  }
  [[nodiscard]] ConvolutionBlock block(const std::string& at, int64_t stride) {
    ConvolutionBlock made;
    const bool excited = weights_.has(at + names_.reduce + ".weight");
    if (weights_.has(at + names_.shortcut + names_.convolution + ".weight"))
      made.shortcut = convolution(at + names_.shortcut, stride);
    made.steps = {step(at + names_.first, 1, activation_), step(at + names_.second, stride, activation_)};
    if (excited) made.steps[1].excite = squeeze_excite(weights_, at + names_.reduce, at + names_.expand, width_);
    made.steps.push_back(step(at + (excited ? names_.third_behind_excite : names_.third), 1, kNoActivation));
    made.added = true;
    made.after = activation_;
    return made;
  }

  Weights& weights_;
  const RegNetNames& names_;
  Activation activation_;
  int64_t width_ = 3;
};

}  // namespace

std::unique_ptr<Network> make_regnet(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "RegNet", "embedder.embedder.convolution.weight");
  const Activation activation = activation_of(config_text(config, "hidden_act", "relu"));
  const bool halves = config_flag(config, "downsample_in_first_stage", true);
  auto blocks = RegNetReader(weights, kOfTransformers, activation).read(halves ? 2 : 1);
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

std::unique_ptr<Network> make_timm_regnet(const nlohmann::json& /*config*/, const Tensors& tensors) {
  Weights weights(tensors, "RegNet", "stem.conv.weight");
  auto blocks = RegNetReader(weights, kOfTimm, activation_of("relu")).read(2);
  weights.check_all_taken({"head."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

}  // namespace protocom::huggingface
