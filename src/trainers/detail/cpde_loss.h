#pragma once
#include <torch/torch.h>

#include "training/pretrain.h"

namespace protocom {

/// What CPDE learns in addition to the backbone.
struct CpdeHeads {
  CpdeHeads(int64_t dim, int64_t channels, int64_t classes);

  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> named() const;
  [[nodiscard]] std::vector<at::Tensor> parameters() const;
  void to(c10::Device device);

  at::Tensor directions;             ///< [classes, d], of the cosine classifier
  at::Tensor log_scale;              ///< [], log of the factor of the cosine, which starts at 10
  torch::nn::Linear order{nullptr};  ///< [4 channels -> 24], the order of an image's splits
};

/// Returns the cosine classifier's logits of the base classes, by enhanced features: [b, d] -> [b, classes].
at::Tensor cpde_logits(const at::Tensor& features, const CpdeHeads& heads, double enhancing);

/// Returns the cross-entropy of the orders int64 [b] of splits given their primitives `channels` [b * 4, c]: the mean
/// of each channel of a split's feature maps, with the splits in their order.
at::Tensor order_loss(const at::Tensor& channels, const at::Tensor& orders, const CpdeHeads& heads);

}  // namespace protocom
