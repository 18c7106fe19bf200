#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "networks/huggingface/detail/weights.h"

namespace protocom::huggingface {

/// Reads biases of attention that depend on the distance between two positions of a g x g grid (Swin, BEiT). A table
/// has (2 g - 1)^2 rows, and with a class token three more: from it, to it, and its own.
class RelativeBiases {
 public:
  explicit RelativeBiases(Weights& weights) : weights_(weights) {}

  /// Returns the bias [heads, t, t] of the table `name` [rows, heads], t = g^2 tokens, one more with a class token.
  /// Throws Error for a table of another size, for more than 32 x 32 positions, and if all biases together take more
  /// than 2 GiB: a table is a few hundred times smaller than its bias.
  at::Tensor take(const std::string& name, bool class_token);
  /// Computes Swin V2's biases, by a small network `name` from the logarithms of distances: [heads, t, t] for a window
  /// of `side` x `side` positions. `pretrained`: the side of the windows that it was trained with, 0: the same. Throws
  /// Error as take() does.
  at::Tensor compute(const std::string& name, int64_t side, int64_t pretrained);

 private:
  void count(const std::string& name, int64_t heads, int64_t tokens);

  Weights& weights_;
  int64_t values_ = 0;
};

}  // namespace protocom::huggingface
