#pragma once
#include <torch/torch.h>

#include <memory>

#include "networks/backbone.h"
#include "trainers/detail/checkpoint.h"
#include "trainers/detail/cpde_loss.h"
#include "training/pretrain.h"

namespace protocom {

/// The networks of a pre-training. Randomness depends on the seed, the epoch and the position in it alone, so no
/// generator is part of its state.
struct PretrainState {
  /// Makes fresh networks; weights follow from options.seed.
  PretrainState(const PretrainRecipe& options, int64_t classes, c10::Device device);

  /// Returns the parameters that take part in the loss; the head for rotations only if there are any.
  [[nodiscard]] std::vector<at::Tensor> learned_parameters(RotationTask rotations) const;
  /// Returns the biases of the backbone's batch norms. Those of convolutions before them have no gradient except
  /// rounding errors.
  [[nodiscard]] std::vector<at::Tensor> biases() const;
  /// Returns the logits [b, classes] of features [b, d].
  [[nodiscard]] at::Tensor logits(const at::Tensor& features);

  /// Writes the backbone alone.
  void write_backbone(const TrainingFiles& files) const;
  /// Returns everything; it can also be read as a backbone.
  [[nodiscard]] Checkpoint checkpoint(const Provenance& provenance) const;
  void load(const Checkpoint& checkpoint);

  NetworkOptions backbone_options;
  std::unique_ptr<Backbone> backbone;
  CpdeOptions cpde_options;
  torch::nn::Linear classifier{nullptr};  ///< [d -> base classes]; not used with CPDE
  torch::nn::Linear rotation{nullptr};    ///< [d -> 4]; not used with CPDE
  std::unique_ptr<CpdeHeads> cpde;        ///< null: classification
  std::unique_ptr<torch::optim::SGD> optimizer;
};

}  // namespace protocom
