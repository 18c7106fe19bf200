#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/stop_signal.h"
#include "io/artefact.h"

namespace protocom {

/// Whether a training resumes from its saved state.
enum class Resume {
  kNo,      ///< starts from the beginning; throws Error if the saved state of an unfinished training is in the way
  kIfThere  ///< from the saved state when it is there and was made by the same options, seed and inputs; throws Error
            ///< when it was made by others
};

/// Files that a training keeps beside its artefact, so that it cannot be lost and can be watched.
struct TrainingFiles {
  std::filesystem::path out;  ///< the artefact, from which the names below are made. Empty: nothing is kept
  Provenance provenance;      ///< for the files' headers
  Resume resume = Resume::kNo;
  double checkpoint_seconds = 60;  ///< between checkpoints within an epoch; the end of an epoch always has one
  StopSignal* stop = nullptr;      ///< requests a stop; null: it cannot be stopped
  /// Receives the log line of every epoch, {"epoch": 1, "loss": ...}, even without an `out`, after the epoch has been
  /// saved; called by only one of several processes. An exception ends the training, which can then be resumed.
  std::function<void(const nlohmann::json& epoch)> on_epoch = {};

  /// Returns `out` + ".last": the state after the last checkpoint.
  [[nodiscard]] std::filesystem::path last() const { return out.string() + ".last"; }
  /// Returns `out` + ".last.previous": the checkpoint before, in case `last` is damaged. Removed at the end.
  [[nodiscard]] std::filesystem::path previous() const { return out.string() + ".last.previous"; }
  /// Returns `out` + ".jsonl": one JSON object per epoch.
  [[nodiscard]] std::filesystem::path log() const { return out.string() + ".jsonl"; }
};

}  // namespace protocom
