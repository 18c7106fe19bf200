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

/// Keeps a training from being lost: saves its state at intervals, also keeps the previous one, finds the newest intact
/// one again, and stops the training on request. With an empty `files.out` it does only the last of these.
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

  /// `made_by` goes into each checkpoint; resuming throws if it differs. `files` must outlive the keeper.
  TrainingKeeper(const TrainingFiles& files, const nlohmann::json& made_by);

  /// Checks that everything can be written, removes leftovers of a killed process, and returns the state to resume
  /// from: `last`, or the previous one if `last` is damaged (which is logged). None: the training starts from the
  /// beginning. Throws Error if both are damaged, for a state made by other options, for an existing one (Resume::kNo),
  /// and while another training makes the same file.
  std::optional<Checkpoint> begin();

  /// Call it after each complete step. Saves the state when it is due; when a stop was requested, saves it and throws
  /// Interrupted.
  void after_step(const Snapshot& snapshot);

  /// Runs long work between two steps that reports its progress (a validation). Each report checks for a stop:
  /// `snapshot`, the state before the work, is then saved and Interrupted thrown.
  void interruptible(const std::function<void(Progress&)>& work, const Snapshot& snapshot);

  /// Saves the state now: at the beginning, and at the end of each epoch. Throws Error if it cannot be written or is
  /// not finite; the previously saved state then remains.
  void save(Checkpoint state);

  /// Ends a complete training: the previous state is no longer needed.
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
