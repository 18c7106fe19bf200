#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "networks/huggingface/detail/weights.h"

namespace protocom::huggingface {

/// A convolution with the batch norm behind it folded in.
struct Convolution {
  at::Tensor weight;  // [out, in / groups, k, k], channels last in memory
  at::Tensor bias;    // [out]
  int64_t stride = 1;
  int64_t groups = 1;
  bool padded_at_end = false;  ///< as TensorFlow pads: what does not go evenly goes below and to the right

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

struct ConvolutionSizes {
  int64_t in, out, kernel;
  int64_t stride = 1;
  int64_t groups = 1;
};

/// `convolution` and `normalization` are the names of the two, before `.weight`.
Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon);

}  // namespace protocom::huggingface
