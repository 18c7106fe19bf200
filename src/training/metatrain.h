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

/// Which statistics batch norm uses while training on episodes.
enum class BatchNormStatistics {
  kRunning,  ///< fixed ones of pre-training: those of an episode of five classes differ from those of test images
  kBatch     ///< the episode's, which also update the running ones
};
/// Parses "running" or "batch". Throws UsageError for anything else.
BatchNormStatistics parse_batch_norm_statistics(std::string_view text);
std::string_view to_string(BatchNormStatistics statistics);

/// Which mean and std of attributes (equations 2 and 3) accompany a tuned backbone. The paper does not say.
enum class AttributeStatistics {
  kRecomputed,  ///< from the base images' features under the tuned backbone, after training
  kKept         ///< those of the frozen backbone, with which the network was trained
};
/// Parses "recomputed" or "kept". Throws UsageError for anything else.
AttributeStatistics parse_attribute_statistics(std::string_view text);
std::string_view to_string(AttributeStatistics statistics);

/// Settings of joint meta-training (equation 5); the defaults are the authors' (their published code) where it gives
/// any.
struct MetatrainOptions {
  std::string head = "gauss-fusion";  ///< the method whose loss is minimised (make_method); "mean" is Meta-Baseline
  EpisodeShape episode;
  int64_t episodes = 8;   ///< per step; computed one after the other, so that memory does not grow with their number
  int64_t batches = 100;  ///< steps per epoch
  Schedule schedule{ScheduleShape::kStep, 1e-4, 40, {0.375, 0.625, 0.75}};
  SgdOptions sgd;
  double scale = kDefaultGamma;  ///< initial gamma of equation 8; learned
  BatchNormStatistics batch_norm = BatchNormStatistics::kRunning;
  AttributeStatistics statistics = AttributeStatistics::kKept;  ///< chosen on val: docs/log/training.md
  AugmentOptions augment{0, 0, 0};                              ///< none: the statistics are of unaugmented images
  ValidationOptions validation;
  Precision precision = Precision::kAuto;
  std::string device = "auto";  ///< see parse_device
  uint64_t seed = 1;
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share a step's episodes
};

/// What to tune, and on which images. `model` and `knowledge` may be null for a head that completes nothing.
struct MetatrainInputs {
  const PackedImages& images;
  Encoder& encoder;  ///< a backbone of LibTorch whose weights can be written back
  CompletionModel* model = nullptr;
  const Knowledge* knowledge = nullptr;
};

/// Output files of a joint meta-training.
struct MetatrainFiles {
  TrainingFiles training;       ///< `out` is the tuned backbone of the kept epoch
  std::filesystem::path model;  ///< the tuned completion model with gamma; empty without one
};

/// Accuracy of a method on validation episodes, percent.
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
  std::vector<ValidationRow> validation;  ///< with the statistics of the frozen backbone; empty if not validated
};

/// The epochs of a meta-training, and which one is kept.
struct MetatrainResult {
  int64_t kept_epoch = 0;              ///< by validation of the head's method; 0 if no epoch was better than the start
  std::vector<MetatrainEpoch> epochs;  ///< from epoch 0 on
};

/// Tunes backbone, completion network and gamma together on n-way k-shot episodes of the base classes. In each episode
/// prototypes are averaged (equation 6), completed with newly drawn attribute features (equations 7 and 9), fused, and
/// the queries' cross-entropy (equations 5 and 8) is differentiated through all of it. The epoch kept is the one with
/// the best validation episodes, the state before training included. Leaves backbone and model in the kept state and
/// writes `files`. All randomness follows from (seed, epoch, episode). Throws UsageError for options out of range and
/// for an encoder that LibTorch does not compute, Error when the backbone cannot be written back (TorchScript) or
/// trained, when a base class has too few images for an episode, when the model does not fit the backbone, and when the
/// loss is no longer finite; Interrupted when a stop was requested. A training that was interrupted continues
/// bit-identically on the CPU (TrainingFiles::resume).
MetatrainResult metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
                          Progress& progress);

}  // namespace protocom
