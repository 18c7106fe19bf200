#pragma once
#include <cstdint>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// A sliding window over maps [n, c, h, w], for convolutions and poolings.
struct Window {
  Sizes kernel;
  Sizes strides;
  Sizes dilations;
  Sizes begin;  ///< positions added above and on the left
  Sizes end;    ///< below and on the right
  bool ceil = false;

  [[nodiscard]] bool is_even() const { return begin == end; }
  /// Returns the padding for at::constant_pad_nd.
  [[nodiscard]] Sizes pads() const { return {begin[1], end[1], begin[0], end[0]}; }
};

/// Returns the window of the node's attributes, with `auto_pad` by the sizes of its input. Throws Error for windows
/// over other than two axes, and if they do not fit into the input.
Window window_of(const Binding& binding, Sizes kernel);

/// Throws Error if the resulting maps are too large.
void check_maps(const Window& window, const Sizes& input, int64_t channels);

}  // namespace protocom::onnx
