#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "heads/detail/state_tensors.h"

namespace protocom {

/// Sizes of TwoLayers; -1: any.
struct TwoLayersShape {
  int64_t in = 0;
  int64_t hidden = 0;
  int64_t out = 0;
};

/// Linear, LeakyReLU, Linear: the network that several methods learn, as tensors of a fitted method's state.
struct TwoLayers {
  at::Tensor hidden_weight;  ///< [h, in]
  at::Tensor hidden_bias;    ///< [h]
  at::Tensor output_weight;  ///< [out, h]
  at::Tensor output_bias;    ///< [out]
  double slope = 0;          ///< of the LeakyReLU below 0; 0: ReLU

  /// Returns random weights from LibTorch's generator, with gradients.
  static TwoLayers untrained(const TwoLayersShape& shape, double slope = 0);

  [[nodiscard]] int64_t in() const { return hidden_weight.size(1); }
  [[nodiscard]] int64_t out() const { return output_weight.size(0); }
  /// Maps [..., in] to [..., h].
  [[nodiscard]] at::Tensor hidden(const at::Tensor& x) const;
  /// Maps [..., h] to [..., out].
  [[nodiscard]] at::Tensor output(const at::Tensor& x) const;
  /// Maps [..., in] to [..., out].
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const { return output(hidden(x)); }

  [[nodiscard]] std::vector<at::Tensor> parameters() const;
  /// Lists "<prefix>hidden.weight", "<prefix>hidden.bias", "<prefix>output.weight" and "<prefix>output.bias"; of the
  /// shape only `in` and `out` are checked.
  void fields(StateFields& state, const std::string& prefix, const TwoLayersShape& shape, double of_slope = 0);
};

}  // namespace protocom
