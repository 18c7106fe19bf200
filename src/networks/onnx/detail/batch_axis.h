#pragma once
#include <ATen/core/Tensor.h>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// The axis in which a value for several images differs from that for one: there it is `images` times as long, with the
/// images as the outer part of that axis.
struct BatchAxis {
  int64_t axis = 0;
  int64_t images = 1;
};

/// Finds it by comparing sizes; images = 1 if they are equal. Throws Error if they differ in another way.
BatchAxis batch_axis(at::IntArrayRef sizes, const Sizes& of_one);

/// Returns the shape for several images corresponding to `target`, to which a value of sizes `of_one` is reshaped for
/// one image: the images' axis is the one with as many positions before it as before. So a graph exported with a batch
/// of one accepts any batch, wherever it moved the images. Throws Error.
Sizes reshaped(const Sizes& target, at::IntArrayRef sizes, const Sizes& of_one);

}  // namespace protocom::onnx
