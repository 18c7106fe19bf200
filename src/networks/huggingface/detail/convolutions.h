#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "networks/huggingface/detail/network.h"
#include "networks/huggingface/detail/weights.h"

/// What networks of convolutions have in common: ResNet, RegNet, the families of MobileNet and of EfficientNet.
namespace protocom::huggingface {

/// Left, right, above and below of a convolution.
enum class Pads {
  kEven,        ///< half the kernel on each side
  kTensorFlow,  ///< as many as the output needs; what does not go evenly goes below and to the right
  kLater        ///< one less on the left and above, as `transformers` pads an EfficientNet's smaller maps
};

/// A convolution with the batch norm behind it folded in.
struct Convolution {
  at::Tensor weight;  // [out, in / groups, k, k], channels last in memory
  at::Tensor bias;    // [out]
  int64_t stride = 1;
  int64_t groups = 1;
  Pads pads = Pads::kEven;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  [[nodiscard]] int64_t out() const { return weight.size(0); }
};

struct ConvolutionSizes {
  int64_t in, out, kernel;
  int64_t stride = 1;
  int64_t groups = 1;
};

/// `convolution` and `normalization` are the names of the two, before `.weight`.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon);
/// The same of the sizes that the tensor has, for maps of `in` channels. Throws Error for a tensor that does not fit.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization, int64_t in,
                   int64_t stride, double epsilon);

/// Squeeze-and-excitation (Hu et al. 2018): channels times a number each, which their means tell.
struct SqueezeExcite {
  Convolution reduce, expand;
  Activation inner = nullptr, gate = nullptr;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// `reduce` and `expand` are the names of two convolutions of one pixel, for maps of `width` channels.
SqueezeExcite squeeze_excite(Weights& weights, const std::string& reduce, const std::string& expand, int64_t width);

struct ConvolutionStep {
  Convolution convolution;
  Activation activation = nullptr;  // none
  std::optional<SqueezeExcite> excite = std::nullopt;
};

struct ConvolutionBlock {
  std::vector<ConvolutionStep> steps;
  bool added = false;                   ///< to what goes in, or to the shortcut of it
  bool averaged = false;                ///< the shortcut's stride is a mean of 2 x 2
  std::optional<Convolution> shortcut;  // none: what goes in
  at::Tensor scale;                     // of the steps' result, by channels; undefined: none
  Activation after = nullptr;
  bool max_pooled = false;  ///< behind: 3 x 3 with a stride of 2

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// Blocks; the feature is the mean of the last maps, and where there is a head, its one pixel of that.
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
