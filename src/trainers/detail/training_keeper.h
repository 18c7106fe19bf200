#pragma once
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/progress.h"
#include "io/output_lock.h"
#include "io/unfinished.h"
#include "trainers/detail/checkpoint.h"
#include "training/training_files.h"

namespace protocom {

/// Keeps a training from being lost: saves its state every so often, keeps the state before as well, finds the newest
/// whole one again, and stops the training when it is asked to. With an empty `files.out` it only does the last.
///
///     TrainingKeeper keeper(files, made_by);        // made_by holds "epochs", a position "epoch" (done) and "step"
///     if (const auto saved = keeper.begin()) restore(*saved); else keeper.save(snapshot());
///     for (epoch...) {
///       for (step...) {
///         ... one step ...
///         keeper.after_step(snapshot);
///       }
///       keeper.interruptible([&](Progress& progress) { validate(progress); }, snapshot);
///       ... write the best artefact, then the log ...
///       keeper.save(snapshot());
///     }
///     keeper.finish();
class TrainingKeeper {
 public:
  using Snapshot = std::function<Checkpoint()>;

  /// `made_by` goes into each checkpoint; resuming throws when it differs. `files` must outlive the keeper.
  TrainingKeeper(const TrainingFiles& files, const nlohmann::json& made_by);

  /// Checks that everything can be written, clears what a killed process left, and returns the state to resume from:
  /// `last`, or the one before it when `last` is damaged (which is logged). None: the training starts at the beginning.
  /// Throws Error for both damaged, for a state made by other options, for one in the way (Resume::kNo), and while
  /// another training makes the same file.
  std::optional<Checkpoint> begin();

  /// Call it when a step is complete. Saves the state when it is time to; when a stop was requested, saves it and
  /// throws Interrupted.
  void after_step(const Snapshot& snapshot);

  /// Runs something long between two steps that reports its progress (a validation). A stop is heard at each report:
  /// `snapshot`, the state before the work, is saved then and Interrupted thrown.
  void interruptible(const std::function<void(Progress&)>& work, const Snapshot& snapshot);

  /// Saves the state now: at the beginning, and at the end of each epoch. Throws Error when it cannot be written or is
  /// not finite; the state saved before is still there then.
  void save(Checkpoint state);

  /// The training is complete: the state before the last is not needed any more.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool asked_to_stop() const;
  [[noreturn]] void stop(const Snapshot& snapshot);
  [[nodiscard]] std::optional<Checkpoint> newest();
  void rename_to_previous(UnfinishedPath& before) const;
  [[nodiscard]] bool set_aside(const std::filesystem::path& name) const;

  const TrainingFiles& files_;
  nlohmann::json made_by_;
  StopSignal::Listener listener_;
  std::optional<OutputLock> lock_;
  Clock::time_point saved_ = Clock::now();
  bool last_is_whole_ = false;
};

}  // namespace protocom
