#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/packed_images.h"
#include "encoders/encoder.h"
#include "encoders/precision.h"
#include "eval/evaluate.h"
#include "fewshot/paper/completion_model.h"
#include "jobs/process_group.h"
#include "knowledge/knowledge.h"
#include "training/augment.h"
#include "training/schedule.h"
#include "training/training_files.h"
#include "training/validation.h"

namespace protocom {

/// Whose statistics batch norm uses while episodes are trained on.
enum class BatchNormStatistics {
  kRunning,  ///< those of pre-training, which stay: an episode of five classes has others than the images at test
  kBatch     ///< the episode's, which the running ones follow
};
/// "running" or "batch". Throws UsageError for anything else.
BatchNormStatistics parse_batch_norm_statistics(std::string_view text);
std::string_view to_string(BatchNormStatistics statistics);

/// The mean and std of attributes (equations 2 and 3) that go with a tuned backbone. The paper leaves it open.
enum class AttributeStatistics {
  kRecomputed,  ///< from the base images' features under the tuned backbone, after training
  kKept         ///< those of the frozen backbone, which the network was trained with
};
/// "recomputed" or "kept". Throws UsageError for anything else.
AttributeStatistics parse_attribute_statistics(std::string_view text);
std::string_view to_string(AttributeStatistics statistics);

/// Settings of joint meta-training (equation 5); the defaults are the authors' (their published code) where it gives
/// any.
struct MetatrainOptions {
  std::string head = "gauss-fusion";  ///< the method whose loss is minimised (make_method); "mean" is MetaBaseline
  EpisodeShape episode;
  int64_t episodes = 8;   ///< a step; computed one after the other, so that memory does not grow with them
  int64_t batches = 100;  ///< steps per epoch
  Schedule schedule{ScheduleShape::kStep, 1e-4, 40, {0.375, 0.625, 0.75}};
  SgdOptions sgd;
  double scale = kDefaultGamma;  ///< gamma of equation 8 at the start; learned
  BatchNormStatistics batch_norm = BatchNormStatistics::kRunning;
  AttributeStatistics statistics = AttributeStatistics::kKept;  ///< chosen on val: docs/log/training.md
  AugmentOptions augment{0, 0, 0};                              ///< none: the statistics are of images as they are
  ValidationOptions validation;
  Precision precision = Precision::kAuto;
  std::string device = "auto";  ///< see parse_device
  uint64_t seed = 1;
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share a step's episodes
};

/// What is tuned, and on which images. `model` and `knowledge` may be null for a head that completes nothing.
struct MetatrainInputs {
  const PackedImages& images;
  Encoder& encoder;  ///< a backbone of LibTorch whose weights can be written back
  CompletionModel* model = nullptr;
  const Knowledge* knowledge = nullptr;
};

/// Where a joint meta-training writes.
struct MetatrainFiles {
  TrainingFiles training;       ///< `out` is the tuned backbone of the kept epoch
  std::filesystem::path model;  ///< the tuned completion model with gamma; empty without one
};

/// A method's accuracy on validation episodes, percent.
struct ValidationRow {
  std::string method;
  Estimate accuracy;
};

/// One epoch; epoch 0 is the state before training.
struct MetatrainEpoch {
  int64_t epoch = 0;
  double loss = 0;                        ///< mean cross-entropy of the queries, equation 5
  double accuracy = 0;                    ///< of the queries, in [0, 1]
  double scale = 0;                       ///< gamma after the epoch
  std::vector<ValidationRow> validation;  ///< with the statistics of the frozen backbone; empty when not validated
};

/// The epochs of a meta-training, and which of them is kept.
struct MetatrainResult {
  int64_t kept_epoch = 0;  ///< by validation of the head's method; 0 when no epoch was better than the start
  std::vector<MetatrainEpoch> epochs;  ///< from epoch 0 on
};

/// Tunes backbone, completion network and gamma together on n-way k-shot episodes of the base classes. In each episode
/// prototypes are averaged (equation 6), completed with newly drawn attribute features (equations 7 and 9), fused, and
/// the queries' cross-entropy (equations 5 and 8) is differentiated through all of it. The epoch kept is the one whose
/// validation episodes came out best, the state before training included. Leaves backbone and model in the kept state
/// and writes `files`. Everything random follows from (seed, epoch, episode). Throws UsageError for options out of
/// range and for an encoder that LibTorch does not compute, Error when the backbone cannot be written back
/// (TorchScript) or trained, when a base class has too few images for an episode, when the model does not fit the
/// backbone, and when the loss stops being finite; Interrupted when it was asked to stop. A training that was cut goes
/// on bit-identically on the CPU (TrainingFiles::resume).
MetatrainResult metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
                          Progress& progress);

}  // namespace protocom
