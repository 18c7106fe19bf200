#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

/// Maps [n, c, h, w] in blocks of channels, in which oneDNN's convolutions are fastest: each block is an image of its
/// own, [n * blocks, width, h, w] with channels last. If the number of channels is not a multiple of the width, the
/// last block is padded with zeros. So operators on individual values or channels take blocks like maps, if they
/// preserve zeros.
namespace protocom::onnx {

/// Returns the channels per block on this processor, 8 or 16; 0: there are no such convolutions.
int64_t block_width();
/// Returns the number of blocks of an image with this many channels.
int64_t count_blocks(int64_t channels);

at::Tensor to_blocks(const at::Tensor& maps);
/// Returns [n, channels, h, w], channels last.
at::Tensor from_blocks(const at::Tensor& blocks, int64_t channels);

}  // namespace protocom::onnx
