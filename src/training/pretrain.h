#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "datasets/packed_images.h"
#include "encoders/network_options.h"
#include "encoders/precision.h"
#include "jobs/process_group.h"
#include "protocom/pretrain_result.h"
#include "training/augment.h"
#include "training/image_growth.h"
#include "training/schedule.h"
#include "training/training_files.h"
#include "training/validation.h"

namespace protocom {

/// Objective of pre-training.
enum class PretrainMethod {
  kClassification,  ///< a linear classifier on the base classes
  kCpde  ///< CPDE (Zou et al., ACM MM 2020): a cosine classifier on enhanced features, and the order of splits
};
/// Parses "classification" or "cpde". Throws UsageError for anything else.
PretrainMethod parse_pretrain_method(std::string_view text);
std::string_view to_string(PretrainMethod method);

/// CPDE: loss = CE(s cos(f', w_y)) + order_weight CE_order. f' are the features after enhanced_primitives() and w the
/// direction of a base class. Primitives are discovered without knowledge of the classes: the shuffled quarters of each
/// image pass through the backbone one by one, and a linear layer predicts from the means of their feature maps which
/// of the 24 orders they are in. The values were chosen on val classes of three data sets (docs/results/rivals.md).
struct CpdeOptions {
  double enhancing = 0;       ///< strength of enhanced_primitives(), in [0, 100]
  double order_weight = 0.3;  ///< of the cross-entropy of the order, at least 0
};

/// Second task of pre-training.
enum class RotationTask {
  kOff,
  kOn  ///< each image is turned by 0, 90, 180 or 270 degrees and a second head predicts which: loss = 0.5 CE + 0.5
       ///< CE_rot
};

/// Over which images batch norm computes its statistics when several processes share a batch.
enum class BatchNormOver {
  kShare,  ///< each process its own share, as PyTorch's DistributedDataParallel does
  kBatch   ///< the whole batch, as a single process would: one exchange per batch norm
};

/// Where training images are augmented.
enum class AugmentOn {
  kAuto,   ///< on the GPU if one trains
  kHost,   ///< by worker threads, image by image
  kDevice  ///< on the backbone's device, a whole batch at once; the images are stored there if they take at most 4 GiB
};
/// Parses "auto", "host" or "device". Throws UsageError for anything else.
AugmentOn parse_augment_on(std::string_view text);
std::string_view to_string(AugmentOn where);

/// Initial weights of a network.
enum class Initialisation {
  kKaiming,  ///< convolutions are drawn from normal distributions (He et al. 2015, fan-out): the authors' choice
  kWhitened  ///< the first one whitens patches of base images, the others pass on their inputs
};
/// Parses "kaiming" or "whitened". Throws UsageError for anything else.
Initialisation parse_initialisation(std::string_view text);
std::string_view to_string(Initialisation initialisation);

/// Default learning rate per 128 images of a batch (docs/results/training.md, "Learning rates").
inline constexpr double kPretrainRate = 0.05;

/// Settings for pre-training a backbone on the base classes (section 3.2, "pre-training"). The authors' own schedule is
/// 0.1 times 0.1 at 60, 80 and 90 % of 100 epochs, without a warm-up; small networks and data learn nothing with it.
struct PretrainRecipe {
  NetworkOptions backbone;  ///< image_size is taken from the images
  /// A learning rate of 0 means kPretrainRate * batch / 128.
  Schedule schedule{ScheduleShape::kCosine, 0, 100, Schedule{}.milestones, 0.1};
  int64_t batch = 128;  ///< of all processes together
  SgdOptions sgd;
  Initialisation initialisation = Initialisation::kWhitened;  ///< docs/results/training.md, "Initial weights"
  /// Learning rate of the biases of batch norms, relative to the others (Page, "How to train your ResNet", 2019): their
  /// gradients are multiplied by it, while their weight decay is not changed. Above 0.
  double bias_rate = 16;
  double label_smoothing = 0;
  PretrainMethod method = PretrainMethod::kClassification;
  CpdeOptions cpde;                            ///< with PretrainMethod::kCpde
  RotationTask rotation = RotationTask::kOff;  ///< with PretrainMethod::kClassification
  AugmentOptions augment;
  ImageGrowth growth;  ///< not for conv4, whose features grow with the images
  AugmentOn augment_on = AugmentOn::kAuto;
  ValidationOptions validation{200, {}};  ///< nearest class mean by cosine; with CPDE of enhanced features
  Precision precision = Precision::kAuto;
  std::string device = "auto";  ///< see parse_device
  int workers = 0;              ///< threads that prepare batches; 0: one, or more on a GPU machine
  uint64_t seed = 1;
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share every batch; the first one writes
  BatchNormOver batch_norm = BatchNormOver::kShare;
};

/// Returns the default learning rate: kPretrainRate per 128 images of a batch.
double usual_rate(const PretrainRecipe& options);

/// Trains a backbone with a classifier on the base classes by cross-entropy and SGD, according to `options.method`.
/// `files.out` becomes the backbone of the best epoch by validation, complete after every epoch; `files.last()` is a
/// backbone too, that of the last checkpoint. The log has loss, accuracy, learning_rate, validation_accuracy,
/// images_per_second, seconds of every epoch. All randomness follows from `options.seed`; with the same threads the
/// same seed gives the same weights, also when the training was interrupted at any moment and resumed. Throws
/// UsageError for options out of range, and for CPDE of images whose quarters are too small for the backbone; Error for
/// fewer than two base classes, a base class without images, a loss that is not finite (with epoch, step and seed),
/// output that cannot be written; Interrupted when `files.stop` requests a stop.
PretrainResult pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                        Progress& progress);

}  // namespace protocom
