#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "networks/huggingface/detail/network.h"
#include "networks/huggingface/detail/weights.h"

/// Common parts of convolutional networks: ResNet, RegNet, the families of MobileNet and of EfficientNet.
namespace protocom::huggingface {

/// The zero padding of a convolution.
enum class Pads {
  kEven,        ///< half the kernel on each side
  kTensorFlow,  ///< as many as the output needs; if odd, one more below and to the right
  kLater        ///< one less on the left and above, as `transformers` pads EfficientNet's strided convolutions
};

/// A convolution with the following batch norm folded in.
struct Convolution {
  at::Tensor weight;  // [out, in / groups, k, k], channels last in memory
  at::Tensor bias;    // [out]
  int64_t stride = 1;
  int64_t groups = 1;
  Pads pads = Pads::kEven;

  /// Computes maps [n, in, h, w] -> [n, out, h', w'].
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  [[nodiscard]] int64_t out() const { return weight.size(0); }
};

/// Channels of the input and the output, and the side of the kernel, as required of the weight.
struct ConvolutionSizes {
  int64_t in, out, kernel;
  int64_t stride = 1;
  int64_t groups = 1;
};

/// Makes a folded convolution; `convolution` and `normalization` are the names of the two, before `.weight`.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon);
/// Does so with the sizes of the tensor, for maps of `in` channels. Throws Error for a tensor that does not match.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization, int64_t in,
                   int64_t stride, double epsilon);

/// Squeeze-and-excitation (Hu et al. 2018): scales each channel by a factor computed from the means of all channels.
struct SqueezeExcite {
  Convolution reduce, expand;
  at::Tensor across;  ///< ECA-Net's (Wang et al. 2020) instead of both: over neighbouring channels, [1, 1, k]
  Activation inner = nullptr, gate = nullptr;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// Makes the module; `reduce` and `expand` are the names of two 1 x 1 convolutions, for maps of `width` channels.
SqueezeExcite squeeze_excite(Weights& weights, const std::string& reduce, const std::string& expand, int64_t width);

/// For a convolution without an activation.
inline constexpr Activation kNoActivation = nullptr;

/// A convolution with the operations after it.
struct ConvolutionStep {
  Convolution convolution;
  Activation activation = kNoActivation;
  std::optional<SqueezeExcite> excite = std::nullopt;
  bool averaged = false;  ///< a 2 x 2 average pool at the end
};

/// A sequence of steps, with a residual connection if `added`.
struct ConvolutionBlock {
  std::vector<ConvolutionStep> steps;
  bool added = false;                   ///< to the input, or to its shortcut
  bool averaged = false;                ///< whether a 2 x 2 average pool replaces the shortcut's stride
  std::optional<Convolution> shortcut;  // none: the identity
  at::Tensor scale;                     // per channel, before the sum; undefined: none
  Activation after = kNoActivation;
  bool max_pooled = false;  ///< at the end, 3 x 3 with a stride of 2

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// A convolutional network. The feature is the mean of the last block's maps, through the 1 x 1 convolution `head` if
/// there is one.
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
