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

/// What a backbone is pre-trained by.
enum class PretrainMethod {
  kClassification,  ///< a linear classifier on the base classes
  kCpde  ///< CPDE (Zou et al., ACM MM 2020): a cosine classifier on enhanced features, and the order of splits
};
/// "classification" or "cpde". Throws UsageError for anything else.
PretrainMethod parse_pretrain_method(std::string_view text);
std::string_view to_string(PretrainMethod method);

/// CPDE: loss = CE(s cos(f', w_y)) + order_weight CE_order. f' are the features after enhanced_primitives() and w a
/// direction a base class. Primitives are discovered by themselves, without knowledge of the classes: the quarters of
/// each image pass through the backbone one by one, shuffled, and a linear layer predicts from the means of their
/// feature maps in which of the 24 orders they are. The values are what val classes of three data sets chose
/// (docs/results/rivals.md).
struct CpdeOptions {
  double enhancing = 0;       ///< strength of enhanced_primitives(), in [0, 100]
  double order_weight = 0.3;  ///< of the order's cross-entropy, at least 0
};

/// The second task of pre-training.
enum class RotationTask {
  kOff,
  kOn  ///< each image is turned by 0, 90, 180 or 270 degrees and a second head predicts which: loss = 0.5 CE + 0.5
       ///< CE_rot
};

/// Over which images batch norm computes its statistics when several processes share a batch.
enum class BatchNormOver {
  kShare,  ///< each process its own share, as PyTorch's DistributedDataParallel does
  kBatch   ///< all of the batch, as one process would: an exchange for every batch norm
};

/// Where training images are varied.
enum class AugmentOn {
  kAuto,   ///< on a GPU where one trains
  kHost,   ///< by worker threads, image by image
  kDevice  ///< where the backbone computes, a whole batch at once; the images lie there when they take at most 4 GiB
};
/// "auto", "host" or "device". Throws UsageError for anything else.
AugmentOn parse_augment_on(std::string_view text);
std::string_view to_string(AugmentOn where);

/// What a network is before it has seen anything.
enum class Initialisation {
  kKaiming,  ///< convolutions are normal draws (He et al. 2015, fan-out): the authors' own
  kWhitened  ///< the first one whitens patches as base images have them, the others pass on what they are given
};
/// "kaiming" or "whitened". Throws UsageError for anything else.
Initialisation parse_initialisation(std::string_view text);
std::string_view to_string(Initialisation initialisation);

/// The learning rate for each 128 images of a batch if none is stated (docs/results/training.md, "Learning rates").
inline constexpr double kPretrainRate = 0.05;

/// How a backbone is pre-trained on the base classes (section 3.2, "pre-training"). The authors' own schedule is 0.1
/// times 0.1 at 60, 80 and 90 % of 100 epochs, without a warm-up; small networks and data learn nothing by it.
struct PretrainRecipe {
  NetworkOptions backbone;  ///< image_size is taken from the images
  /// A learning rate of 0 means kPretrainRate * batch / 128.
  Schedule schedule{ScheduleShape::kCosine, 0, 100, Schedule{}.milestones, 0.1};
  int64_t batch = 128;  ///< of all processes together
  SgdOptions sgd;
  Initialisation initialisation = Initialisation::kWhitened;  ///< docs/results/training.md, "Initial weights"
  /// Of the biases of batch norms, in learning rates (Page, "How to train your ResNet", 2019), while their weight decay
  /// stays that of a rate of 1: their gradients are multiplied by it. Above 0.
  double bias_rate = 16;
  double label_smoothing = 0;
  PretrainMethod method = PretrainMethod::kClassification;
  CpdeOptions cpde;                            ///< with PretrainMethod::kCpde
  RotationTask rotation = RotationTask::kOff;  ///< with PretrainMethod::kClassification
  AugmentOptions augment;
  ImageGrowth growth;  ///< not for conv4, whose features grow with the images
  AugmentOn augment_on = AugmentOn::kAuto;
  ValidationOptions validation{200, {}};  ///< nearest class mean by cosine, with CPDE of enhanced features
  Precision precision = Precision::kAuto;
  std::string device = "auto";  ///< see parse_device
  int workers = 0;              ///< threads that prepare batches; 0: one, or more on a GPU machine
  uint64_t seed = 1;
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share every batch; the first one writes
  BatchNormOver batch_norm = BatchNormOver::kShare;
};

/// The learning rate if none is stated: kPretrainRate for each 128 images of a batch.
double usual_rate(const PretrainRecipe& options);

/// Trains a backbone with a classifier on the base classes, cross-entropy and SGD, as `options.method` says.
/// `files.out` becomes the backbone of the best epoch by validation, whole after every epoch; `files.last()` is a
/// backbone too, the one of the last checkpoint. The log has loss, accuracy, learning_rate, validation_accuracy,
/// images_per_second, seconds of every epoch. Everything random follows from `options.seed`; with the same threads the
/// same seed gives the same weights, also when the training was cut off at any moment and resumed. Throws UsageError
/// for options out of range, and for CPDE of images whose quarters are too small for the backbone; Error for fewer than
/// two base classes, a base class without images, a loss that is not finite (with epoch, step and seed), output that
/// cannot be written; Interrupted when `files.stop` asks to stop.
PretrainResult pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                        Progress& progress);

}  // namespace protocom
