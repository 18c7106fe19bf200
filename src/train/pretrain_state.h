#pragma once
#include <torch/torch.h>

#include <memory>

#include "protocom/train/pretrain.h"
#include "train/checkpoint.h"

namespace protocom {

/// Sums over the images of an epoch so far.
struct EpochFigures {
  double loss = 0, correct = 0;
  int64_t images = 0;
  double seconds = 0, waited = 0;

  [[nodiscard]] double mean_loss() const { return loss / static_cast<double>(images); }
  [[nodiscard]] double accuracy() const { return correct / static_cast<double>(images); }
  [[nodiscard]] double images_per_second() const { return static_cast<double>(images) / seconds; }
};

/// All that a pre-training carries from one step to the next. What is random depends on the seed, the epoch and the
/// place in it alone, so no generator is part of it.
struct PretrainState {
  /// A fresh one; weights follow from options.seed.
  PretrainState(const PretrainOptions& options, int64_t classes, c10::Device device);

  void set_learning_rate(double learning_rate);

  /// Writes the backbone alone.
  void write_backbone(const TrainingFiles& files) const;
  /// Everything; it also reads as a backbone.
  [[nodiscard]] Checkpoint checkpoint(const Provenance& provenance) const;
  void load(const Checkpoint& checkpoint);

  BackboneOptions backbone_options;
  std::unique_ptr<Backbone> backbone;
  torch::nn::Linear classifier{nullptr};  ///< [d -> base classes]
  torch::nn::Linear rotation{nullptr};    ///< [d -> 4]
  std::unique_ptr<torch::optim::SGD> optimizer;
  int64_t epoch = 0;     ///< epochs done
  int64_t step = 0;      ///< steps done of the epoch after them
  EpochFigures figures;  ///< of these steps
  PretrainResult result;
};

}  // namespace protocom
