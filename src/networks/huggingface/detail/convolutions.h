#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "networks/huggingface/detail/network.h"
#include "networks/huggingface/detail/weights.h"

/// What networks of convolutions have in common: ResNet, RegNet, the families of MobileNet and of EfficientNet.
namespace protocom::huggingface {

/// Zeros around the maps that a convolution reads.
enum class Pads {
  kEven,        ///< half the kernel on each side
  kTensorFlow,  ///< as many as the output needs; of an odd number one more below and to the right
  kLater        ///< one less on the left and above, as `transformers` pads EfficientNet where it has a stride
};

/// A convolution with the batch norm behind it folded in.
struct Convolution {
  at::Tensor weight;  // [out, in / groups, k, k], channels last in memory
  at::Tensor bias;    // [out]
  int64_t stride = 1;
  int64_t groups = 1;
  Pads pads = Pads::kEven;

  /// Maps [n, in, h, w] to [n, out, h', w'].
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  [[nodiscard]] int64_t out() const { return weight.size(0); }
};

/// Channels of the input and the output, and the side of the kernel, which the weight must have.
struct ConvolutionSizes {
  int64_t in, out, kernel;
  int64_t stride = 1;
  int64_t groups = 1;
};

/// `convolution` and `normalization` are the names of the two, before `.weight`.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon);
/// The same, with the sizes of the tensor, for maps of `in` channels. Throws Error for a tensor that does not fit.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization, int64_t in,
                   int64_t stride, double epsilon);

/// Squeeze-and-excitation (Hu et al. 2018): scales each channel by a factor computed from the means of all channels.
struct SqueezeExcite {
  Convolution reduce, expand;
  at::Tensor across;  ///< ECA-Net's (Wang et al. 2020) in place of both: over neighbouring channels, [1, 1, k]
  Activation inner = nullptr, gate = nullptr;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// `reduce` and `expand` are the names of two 1 x 1 convolutions, for maps of `width` channels.
SqueezeExcite squeeze_excite(Weights& weights, const std::string& reduce, const std::string& expand, int64_t width);

/// Of a convolution that is followed by none.
inline constexpr Activation kNoActivation = nullptr;

/// A convolution and what follows it.
struct ConvolutionStep {
  Convolution convolution;
  Activation activation = kNoActivation;
  std::optional<SqueezeExcite> excite = std::nullopt;
  bool averaged = false;  ///< a 2 x 2 average pool at the end
};

/// Steps one after the other, with a residual connection if `added`.
struct ConvolutionBlock {
  std::vector<ConvolutionStep> steps;
  bool added = false;                   ///< to the input, or to its shortcut
  bool averaged = false;                ///< a 2 x 2 average pool before the shortcut has its stride
  std::optional<Convolution> shortcut;  // none: the input itself
  at::Tensor scale;                     // of each channel, before the sum; undefined: none
  Activation after = kNoActivation;
  bool max_pooled = false;  ///< at the end, 3 x 3 with a stride of 2

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// The feature is the mean of the last block's maps, through the 1 x 1 convolution `head` if there is one.
class ConvolutionNetwork : public Network {
 public:
  explicit ConvolutionNetwork(std::vector<ConvolutionBlock> blocks, std::optional<ConvolutionStep> head = std::nullopt)
      : blocks_(std::move(blocks)), head_(std::move(head)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override;
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override;

 private:
  std::vector<ConvolutionBlock> blocks_;
  std::optional<ConvolutionStep> head_;
};

}  // namespace protocom::huggingface
