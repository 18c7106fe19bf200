#pragma once
#include <torch/torch.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "eval/evaluate.h"
#include "jobs/process_group.h"
#include "trainers/detail/checkpoint.h"
#include "trainers/detail/epoch_sums.h"
#include "trainers/detail/time_estimate.h"
#include "trainers/detail/training_keeper.h"
#include "trainers/detail/training_log.h"
#include "training/schedule.h"
#include "training/training_files.h"

namespace protocom {

/// Position of a training.
struct Place {
  int64_t epoch = 0;  ///< completed epochs
  int64_t step = 0;   ///< completed steps of the next epoch
};

/// A completed epoch.
struct EpochEnd {
  int64_t epoch = 0;  ///< from 1; 0 is the state before training
  double learning_rate = 0;
  EpochSums sums;
  std::vector<MethodScores> validation;  ///< empty if not validated
  int64_t kept_epoch = 0;                ///< epoch whose state would be kept if training ended now
};

/// What a training does in a step, what it keeps, and its state. EpochLoop does the rest.
class Trainer {
 public:
  virtual ~Trainer() = default;

  /// Returns the optimizer. Its learning rate follows the schedule; its state is part of every snapshot.
  virtual torch::optim::SGD& optimizer() = 0;
  /// Called before the steps of an epoch start, or are resumed, at `place`.
  virtual void begin_epoch(const Place& /*place*/) {}
  /// Leaves a step's gradients in the parameters (they are zero before) and returns the sums of this process's share,
  /// float64 [3]: loss, correct, count. They may still be being computed on a GPU.
  virtual at::Tensor learn(const Place& place) = 0;
  /// Describes the epoch so far in a few words: "loss 0.123".
  [[nodiscard]] virtual std::string describe(const EpochSums& sums) const = 0;
  /// Returns the number of epochs between validations (it also validates the last); 0: never.
  [[nodiscard]] virtual int64_t validates_every() const = 0;
  /// Scores the validation episodes.
  virtual std::vector<MethodScores> validate(Progress& progress) = 0;
  /// Remembers the state after `epoch` as the best so far.
  virtual void keep(int64_t epoch) = 0;
  /// Ends an epoch. Returns what the log records besides learning rate and loss: a JSON object.
  virtual nlohmann::json end_epoch(const EpochEnd& end) = 0;
  /// Called after all epochs.
  virtual void finish(int64_t /*kept_epoch*/) {}

  /// Returns everything that steps change, except for the optimizer, the place, the sums and what is kept.
  virtual Checkpoint snapshot() = 0;
  virtual void restore(const Checkpoint& saved) = 0;
};

/// Whether the state before training may be the best one.
enum class StartCounts { kNo, kYes };

/// What EpochLoop needs in addition to its trainer.
struct EpochLoopOptions {
  std::string_view name;  ///< shown to users
  Schedule schedule;
  int64_t steps = 1;  ///< per epoch
  std::vector<std::string>
      chosen_by;  ///< methods whose mean accuracy on validation chooses; none, or without validation: the last is kept
  StartCounts start = StartCounts::kNo;
  uint64_t seed = 1;
  TrainingFiles files;
  nlohmann::json made_by;   ///< see TrainingKeeper
  std::string shorter_way;  ///< advice if the training takes long, see say_estimate
  const ProcessGroup* group = &ProcessGroup::single();
};

/// Result of the epochs.
struct EpochLoopResult {
  int64_t epochs = 0;
  int64_t kept_epoch = 0;
  std::optional<double> best_accuracy;  ///< percent; none if validation did not choose
  EpochSums last;                       ///< of the last epoch
};

/// Takes a trainer through its epochs: learning rate, steps, validation, the choice of the best epoch, log,
/// checkpoints, stops and resuming, for one process or several. A training that was interrupted and resumed gives the
/// same result to the last bit.
class EpochLoop {
 public:
  EpochLoop(Trainer& trainer, EpochLoopOptions options, Progress& progress);

  /// Runs the remaining epochs. Throws Error when the loss is no longer finite, Interrupted when a stop was requested.
  EpochLoopResult run();

 private:
  void begin();
  void restore(const Checkpoint& saved);
  [[nodiscard]] Checkpoint snapshot();
  void train_epoch();
  void train_step();
  void say_time(double step_seconds) const;
  [[noreturn]] void fail_not_finite(double loss, int64_t step) const;
  void end_epoch(int64_t epoch);
  [[nodiscard]] std::vector<MethodScores> validate();
  /// Returns whether the epoch is the one to keep so far; without validation that is the last one.
  [[nodiscard]] bool take_if_best(int64_t epoch, const std::vector<MethodScores>& validation);
  void log(const EpochEnd& end, nlohmann::json figures);
  void tell_epoch() const;
  [[nodiscard]] int64_t steps_done() const { return place_.epoch * options_.steps + place_.step; }
  [[nodiscard]] std::string describe() const;

  Trainer& trainer_;
  EpochLoopOptions options_;
  Progress& progress_;
  StopSignal agreed_;  // agreed on by all processes of a group
  StopSignal::Listener listener_;
  TrainingFiles files_;
  TrainingKeeper keeper_;
  std::optional<TrainingLog> log_;
  nlohmann::json logged_;  // the last epoch
  Place place_;
  EpochSums sums_;
  StepTimer timer_;
  SumsReader reader_;
  std::optional<double> best_accuracy_;
  int64_t kept_epoch_ = 0;
};

/// Makes SGD with Nesterov momentum; the loop sets the rate.
std::unique_ptr<torch::optim::SGD> make_optimizer(const std::vector<at::Tensor>& parameters, const SgdOptions& options);

}  // namespace protocom
