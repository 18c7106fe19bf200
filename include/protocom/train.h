#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "protocom/error.h"
#include "protocom/features.h"
#include "protocom/knowledge.h"
#include "protocom/pretrain_result.h"
#include "protocom/progress.h"

namespace protocom::v0 {

/// Options for training an encoder from scratch. The command line has more options (`protocom pretrain`).
struct PretrainOptions {
  std::string architecture = "resnet12";  ///< or "resnet12-wide", "conv4", "resnet18", ...
  int64_t image_size = 0;                 ///< side length in pixels; 0: the pack's, or 84
  std::string split = {};                 ///< a .csv of `class,split`; empty: the folder's own
  int64_t epochs = 100;
  int64_t batch = 128;                ///< images per step
  double learning_rate = 0;           ///< 0: 0.05 per 128 images of a batch
  int64_t validation_episodes = 200;  ///< after every epoch
  std::string device = "auto";
  uint64_t seed = 1;
};

/// Trains an encoder with a classifier on the base classes of `images`, a folder or a pack. Writes the encoder of the
/// best epoch to `out`, and the log and the last state beside it. Takes hours on a CPU for a real data set. Throws
/// UsageError for options out of range, Error for too few images, a loss that is not finite and files that cannot be
/// written.
PROTOCOM_API PretrainResult pretrain(const std::string& images, const std::string& out,
                                     const PretrainOptions& options = {}, const Progress& progress = {});

/// Options for training a completion network. The command line has more options (`protocom complete`).
struct CompleteOptions {
  int64_t epochs = 100;
  int64_t batches = 250;  ///< steps per epoch
  double learning_rate = 0.1;
  int64_t shots = 1;  ///< images averaged into each prototype to complete
  int64_t validation_episodes = 200;
  uint64_t seed = 1;
};

/// The result of complete().
struct CompleteResult {
  int64_t kept_epoch = 0;  ///< from 1
  double loss = 0;         ///< loss of that epoch
  Warnings warnings;
};

/// Trains a completion network on the base classes and writes it to `out`, for CompletionModel::read. Takes minutes.
/// Throws Error if no base class has attributes, and if a class has fewer images than `shots`.
PROTOCOM_API CompleteResult complete(const FeatureSet& features, const Knowledge& knowledge, const std::string& out,
                                     const CompleteOptions& options = {}, const Progress& progress = {});

}  // namespace protocom::v0
