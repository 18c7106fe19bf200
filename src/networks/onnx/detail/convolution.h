#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>

#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/windows.h"

namespace protocom::onnx {

/// What becomes of a convolution's results before they are kept.
struct Activation {
  std::string op;  ///< empty: nothing; Relu, Clip, HardSwish, kSilu
  double least = 0;
  double most = 0;
};

/// A convolution of images of one size: Conv, or kConv with what `simplify` put into it.
struct Convolution {
  at::Tensor weight;  ///< [out, in / groups, h, w]
  at::Tensor bias;    ///< [out]; undefined: none
  Window window;
  Sizes input;  ///< of one image
  int64_t groups = 1;
  Activation activation;

  /// The sizes of the result for one image.
  [[nodiscard]] Sizes output() const;
};

bool is_convolution(const Node& node);
/// Throws Error.
Convolution convolution_of(const Binding& binding);

/// Whether its input in blocks would be images as they are, of at most three channels.
bool takes_images(const Convolution& convolution);

enum class Added { kNo, kYes };
/// Of blocks, or images as they are, and of blocks that are added to the result (undefined: none), over which it may
/// write, the result in blocks.
using BlockedFilter = std::function<at::Tensor(const at::Tensor& images, at::Tensor added)>;
/// The convolution of float32 on the processor in blocks. None if oneDNN has none that is fast.
std::optional<BlockedFilter> blocked_convolution(const Convolution& convolution, Added added);

}  // namespace protocom::onnx
