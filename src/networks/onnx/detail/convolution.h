#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>

#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/windows.h"

namespace protocom::onnx {

/// The activation of a convolution's results.
struct Activation {
  std::string op;  ///< empty: none; Relu, Clip, HardSwish, kSilu
  double least = 0;
  double most = 0;
};

/// A convolution of images of one size: Conv, or kConv with what `simplify` fused into it.
struct Convolution {
  at::Tensor weight;  ///< [out, in / groups, h, w]
  at::Tensor bias;    ///< [out]; undefined: none
  Window window;
  Sizes input;  ///< of one image
  int64_t groups = 1;
  Activation activation;

  /// Returns the sizes of the result for one image.
  [[nodiscard]] Sizes output() const;
};

bool is_convolution(const Node& node);
/// Reads a convolution. Throws Error.
Convolution convolution_of(const Binding& binding);

/// Whether it takes plain images, of at most three channels, where others take blocks.
bool takes_images(const Convolution& convolution);

enum class Added { kNo, kYes };
/// Computes the result in blocks from blocks, or plain images, and from blocks to add (undefined: none), which it may
/// overwrite.
using BlockedFilter = std::function<at::Tensor(const at::Tensor& images, at::Tensor added)>;
/// Returns the convolution of float32 on the processor in blocks. Nothing if oneDNN has no fast one.
std::optional<BlockedFilter> blocked_convolution(const Convolution& convolution, Added added);

}  // namespace protocom::onnx
