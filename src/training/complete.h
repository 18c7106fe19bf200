#pragma once
#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "datasets/feature_set.h"
#include "eval/evaluate.h"
#include "fewshot/paper/completion_model.h"
#include "knowledge/knowledge.h"
#include "training/schedule.h"
#include "training/training_files.h"
#include "training/validation.h"

namespace protocom {

/// Which epoch of a training to keep.
enum class Keep {
  kBest,  ///< the one with the highest mean accuracy of `selection_methods` on validation episodes
  kLast   ///< the last
};

/// Parses "best" or "last". Throws UsageError for anything else.
Keep parse_keep(std::string_view text);
/// Returns the text that parse_keep() takes.
std::string_view to_string(Keep keep);

/// Whether to subtract the mean of the base features for training.
enum class Centring {
  kAuto,  ///< if that mean makes up more than half of the features' square, as with general encoders
  kAlways,
  kNever
};

/// Parses "auto", "always" or "never". Throws UsageError for anything else.
Centring parse_centring(std::string_view text);
std::string_view to_string(Centring centring);

/// Settings for training completion (section 3.2, step 3); the defaults are the authors' (their published code).
struct CompleteRecipe {
  Schedule schedule{ScheduleShape::kStep, 0.1, 100, {0.15, 0.4, 0.8}};
  int64_t batches = 250;  ///< steps per epoch
  int64_t batch = 128;    ///< (class, k images) pairs per step
  int64_t k_shot = 1;     ///< images averaged into each incomplete prototype
  SgdOptions sgd;
  /// Training sees the features scaled to this root mean square, and the scale is folded into the weights afterwards:
  /// the recipe's learning rate suits ResNet12's features (0.43) and diverges for a backbone whose features are three
  /// times as long. 0: unscaled.
  double feature_rms = 0.43;
  /// A large component shared by all features multiplies the largest curvature of the loss (the second moment along
  /// it), so that the recipe's learning rate diverges, although it distinguishes no classes. It is subtracted before
  /// the scaling and folded into the biases afterwards: exact, since all layers that read or write features are affine.
  Centring centring = Centring::kAuto;
  int64_t code_dim = 256;  ///< see ProtoComNetOptions
  int64_t attention_hidden = 300;
  int64_t decoder_hidden = 512;
  ValidationOptions validation;  ///< on all val features: images_per_class is for images
  /// The mean of their accuracies decides which epoch is kept: GaussFusion alone hardly distinguishes epochs, and a
  /// network that has begun to overfit the base classes shows it in its completed prototypes first.
  std::vector<std::string> selection_methods = {"completed", "mean-fusion", "gauss-fusion"};
  Keep keep = Keep::kBest;
  uint64_t seed = 1;
};

/// Inputs of a completion training.
struct CompleteInputs {
  const FeatureSet& features;  ///< of all splits
  const Knowledge& knowledge;
};

/// One epoch of a completion training.
struct CompleteEpoch {
  int64_t epoch = 0;
  double loss = 0;                       ///< mean squared error of the epoch on the scaled features, equation 4
  std::vector<MethodScores> validation;  ///< of the paper's rows; empty if not validated
};

/// A trained model and its history.
struct CompletionTraining {
  CompletionModel model;
  int64_t kept_epoch = 0;
  std::vector<CompleteEpoch> epochs;
};

/// Learns to complete prototypes on the base classes of the features (equations 1 to 4): attribute statistics from one
/// pass of class moments; in each step `batch` base classes drawn uniformly, k_shot of their images averaged, each
/// attribute feature drawn from N(mean, std^2) for every sample independently, MSE to the class's mean. Attributes that
/// no base class has are left out and reported. The model's inductive method is the row that the kept epoch's
/// validation finds best. Same seed, same threads: same model, also when the training was interrupted at any moment and
/// resumed. It does not write the model, which the caller owns, but state and logs beside `files.out`. Throws Error
/// when there are no base classes, none of them has an attribute, one has fewer than k_shot images, or the loss is no
/// longer finite; Interrupted when `files.stop` requests a stop.
CompletionTraining train_completion(const CompleteInputs& inputs, const CompleteRecipe& options,
                                    const TrainingFiles& files, Progress& progress);

}  // namespace protocom
