#pragma once
#include <ATen/core/Tensor.h>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// Where a value of several images differs from that of one: on `axis` it is `images` times as long, the images being
/// the outer part of that axis.
struct BatchAxis {
  int64_t axis = 0;
  int64_t images = 1;
};

/// By comparing sizes; images = 1 if they are the same. Throws Error if they differ in another way.
BatchAxis batch_axis(at::IntArrayRef sizes, const Sizes& of_one);

/// `target` is what a value of sizes `of_one` is reshaped to for one image; this is what one of `sizes` is reshaped to
/// for several: the axis before which there are as many places as before the images' axis is theirs. A graph that was
/// exported with a batch of one takes any batch so, wherever it moved the images to. Throws Error.
Sizes reshaped(const Sizes& target, at::IntArrayRef sizes, const Sizes& of_one);

}  // namespace protocom::onnx
