#pragma once
#include <torch/torch.h>

#include <memory>
#include <string>

#include "protocom/train/pretrain.h"

namespace protocom {

/// All that a pre-training carries from one epoch to the next. What is random depends on the seed and the epoch alone,
/// so no generator is part of it.
struct PretrainState {
  /// A fresh one; weights follow from options.seed.
  PretrainState(const PretrainOptions& options, int64_t classes, c10::Device device);

  void set_learning_rate(double learning_rate);

  /// Writes the backbone alone to files.best.
  void write_backbone(const PretrainFiles& files) const;
  /// Writes everything to files.last().
  void write(const PretrainFiles& files, const std::string& made_by) const;
  /// Reads what `write` wrote. Throws Error unless it was written with the same `made_by`.
  void load(const std::filesystem::path& path, const std::string& made_by);

  BackboneOptions backbone_options;
  std::unique_ptr<Backbone> backbone;
  torch::nn::Linear classifier{nullptr};  ///< [d -> base classes]
  torch::nn::Linear rotation{nullptr};    ///< [d -> 4]
  std::unique_ptr<torch::optim::SGD> optimizer;
  int64_t epoch = 0;  ///< epochs done
  PretrainResult result;
};

/// What a training follows from, as JSON text: two trainings with equal fingerprints go through the same weights.
std::string fingerprint(const PretrainOptions& options, const PackedImages& images);

}  // namespace protocom
