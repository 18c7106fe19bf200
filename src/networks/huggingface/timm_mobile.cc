#include "networks/huggingface/detail/timm_mobile.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <regex>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"

/// timm's families of inverted residuals (Sandler et al. 2018): tensors determine the kinds of blocks and their sizes,
/// a table the rest.
namespace protocom::huggingface {
namespace {

struct MobileFamily {
  const char* names;    // a regular expression; with "tf_" before it: TensorFlow's padding and epsilon
  const char* strides;  // of the first block of each stage
  const char* activation;
  size_t rectified = 0;             // number of first stages with ReLU instead
  bool hard = false;                // excitation by ReLU and the hard sigmoid
  bool convolutions_add = false;    // whether blocks of one convolution have a shortcut
  bool separable_is_plain = false;  // whether a separable convolution has no shortcut and ends with the activation
};

constexpr std::array<MobileFamily, 10> kFamilies = {{
    {"efficientnet_b\\d", "1222121", "silu"},
    {"efficientnet_lite\\d", "1222121", "relu6"},
    {"efficientnetv2_([smlx]|xl|b\\d|rw_[stm])", "122212", "silu", 0, false, true},
    {"tinynet_[a-e]", "1222121", "silu"},
    {"(se)?mnasnet_\\d+", "1222121", "relu"},
    {"mobilenetv1_\\d+h?", "12222", "relu6", 0, false, false, true},
    {"mobilenetv2_\\d+d?", "1222121", "relu6"},
    {"mobilenetv3_large_\\d+d?", "1222121", "hard_swish", 3, true},
    {"mobilenetv3_small_\\d+", "222121", "hard_swish", 2, true},
    {"mobilenetv4_conv_(small|medium|large)(_\\d+)?", "22221", "relu"},
}};

const MobileFamily* family_of(const std::string& architecture) {
  const std::string name = architecture.substr(0, architecture.find('.'));
  for (const MobileFamily& family : kFamilies) {
    if (std::regex_match(name, std::regex("(tf_)?" + std::string(family.names)))) return &family;
  }
  return nullptr;
}

class MobileReader {
 public:
  MobileReader(const MobileFamily& family, Weights& weights, bool tensorflow)
      : family_(family), weights_(weights), tensorflow_(tensorflow) {}

  std::unique_ptr<Network> read();

 private:
  [[nodiscard]] Convolution convolution(const std::string& name, const std::string& norm, int64_t in, int64_t stride) {
    Convolution made = folded(weights_, name, norm, in, stride, tensorflow_ ? 1e-3 : 1e-5);
    if (tensorflow_) made.pads = Pads::kTensorFlow;
    return made;
  }
  void excite(const std::string& at, ConvolutionStep& step) const;
  [[nodiscard]] std::optional<ConvolutionStep> head(std::vector<ConvolutionBlock>& blocks);
  /// The structure of a block: names of convolutions and norms, which of them have the activation, and which the
  /// stride.
  struct Step {
    const char *convolution, *norm;
    bool activated, strided, excited;
  };
  [[nodiscard]] std::vector<Step> steps_of(const std::string& at) const;
  [[nodiscard]] ConvolutionBlock block(const std::string& at, size_t stage, int64_t stride);

  const MobileFamily& family_;
  Weights& weights_;
  bool tensorflow_;
  int64_t width_ = 3;
  Activation activation_ = nullptr;
};

std::vector<MobileReader::Step> MobileReader::steps_of(const std::string& at) const {
  const auto has = [&](const char* name) { return weights_.has(at + name + ".weight"); };
  if (has(".conv")) return {{".conv", ".bn1", true, true, false}};
  if (has(".conv_exp")) return {{".conv_exp", ".bn1", true, true, true}, {".conv_pwl", ".bn2", false, false, false}};
  if (has(".conv_pwl"))
    return {{".conv_pw", ".bn1", true, false, false},
            {".conv_dw", ".bn2", true, true, true},
            {".conv_pwl", ".bn3", false, false, false}};
  if (has(".conv_dw"))
    return {{".conv_dw", ".bn1", true, true, true}, {".conv_pw", ".bn2", family_.separable_is_plain, false, false}};
  std::vector<Step> steps;  // in MobileNet v4, any of the depthwise ones may be missing
  const bool middle = has(".dw_mid.conv");
  if (has(".dw_start.conv")) steps.push_back({".dw_start.conv", ".dw_start.bn", false, !middle, false});
  steps.push_back({".pw_exp.conv", ".pw_exp.bn", true, false, false});
  if (middle) steps.push_back({".dw_mid.conv", ".dw_mid.bn", true, true, false});
  steps.push_back({".pw_proj.conv", ".pw_proj.bn", false, false, false});
  return steps;
}

void MobileReader::excite(const std::string& at, ConvolutionStep& step) const {
  if (!weights_.has(at + ".se.conv_reduce.weight")) return;
  step.excite = squeeze_excite(weights_, at + ".se.conv_reduce", at + ".se.conv_expand", step.convolution.out());
  if (family_.hard)
    step.excite->gate = activation_of("hard_sigmoid");
  else
    step.excite->inner = step.activation;
}

ConvolutionBlock MobileReader::block(const std::string& at, size_t stage, int64_t stride) {
  const Activation activation = stage < family_.rectified ? activation_of("relu") : activation_;
  const std::vector<Step> steps = steps_of(at);
  const int64_t in = width_;
  ConvolutionBlock made;
  for (const Step& step : steps) {
    made.steps.push_back({convolution(at + step.convolution, at + step.norm, width_, step.strided ? stride : 1),
                          step.activated ? activation : nullptr});
    if (step.excited) excite(at, made.steps.back());
    width_ = made.steps.back().convolution.out();
  }
  const bool plain = steps.size() == 1 ? !family_.convolutions_add
                                       : family_.separable_is_plain && steps[0].convolution == std::string(".conv_dw");
  made.added = !plain && stride == 1 && in == width_;
  return made;
}

std::optional<ConvolutionStep> MobileReader::head(std::vector<ConvolutionBlock>& blocks) {
  if (!weights_.has("conv_head.weight")) return std::nullopt;
  if (weights_.has("bn2.weight")) {
    blocks.emplace_back().steps.push_back({convolution("conv_head", "bn2", width_, 1), activation_});
    return std::nullopt;
  }
  if (weights_.has("norm_head.weight"))
    return ConvolutionStep{convolution("conv_head", "norm_head", width_, 1), activation_};
  Convolution pixel;
  pixel.weight = weights_.take("conv_head.weight", {-1, width_, 1, 1});
  pixel.bias = weights_.take("conv_head.bias", {pixel.weight.size(0)});
  return ConvolutionStep{pixel, activation_};
}

std::unique_ptr<Network> MobileReader::read() {
  activation_ = activation_of(family_.activation);
  std::vector<ConvolutionBlock> blocks(1);
  blocks[0].steps.push_back({convolution("conv_stem", "bn1", width_, 2), activation_});
  width_ = blocks[0].steps[0].convolution.out();
  const std::string strides = family_.strides;
  for (size_t stage = 0; stage < strides.size(); ++stage) {
    const auto at = [&](int64_t i) { return "blocks." + std::to_string(stage) + "." + std::to_string(i); };
    const auto is_there = [&](const std::string& name) {
      return weights_.has(name + ".bn1.weight") || weights_.has(name + ".pw_exp.bn.weight");
    };
    if (!is_there(at(0))) fail("missing tensor '{}.bn1.weight' of the family {}", at(0), weights_.family());
    for (int64_t i = 0; is_there(at(i)); ++i) blocks.push_back(block(at(i), stage, i == 0 ? strides[stage] - '0' : 1));
  }
  const std::optional<ConvolutionStep> last = head(blocks);
  weights_.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks), last);
}

}  // namespace

bool is_timm_mobile(const std::string& architecture) { return family_of(architecture) != nullptr; }

std::unique_ptr<Network> make_timm_mobile(const nlohmann::json& config, const Tensors& tensors) {
  const std::string architecture = config_text(config, "architecture", "");
  const MobileFamily* family = family_of(architecture);
  if (family == nullptr) fail("unknown architecture '{}' of timm: export it to ONNX", excerpt(architecture));
  Weights weights(tensors, architecture, "conv_stem.weight");
  return MobileReader(*family, weights, architecture.rfind("tf_", 0) == 0).read();
}

}  // namespace protocom::huggingface
