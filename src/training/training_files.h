#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/stop_signal.h"
#include "io/artefact.h"

namespace protocom {

/// Whether a training resumes from its saved state.
enum class Resume {
  kNo,      ///< it starts from the beginning; throws Error when the saved state of an unfinished training is in the way
  kIfThere  ///< from the saved state when it is there and was made by the same options, seed and inputs; throws Error
            ///< when it was made by others
};

/// What a training keeps beside the artefact it makes, so that it cannot be lost and can be watched.
struct TrainingFiles {
  std::filesystem::path out;  ///< the artefact; the names below are made from it. Empty: nothing is kept
  Provenance provenance;      ///< what the files' headers say
  Resume resume = Resume::kNo;
  double checkpoint_seconds = 60;  ///< between two checkpoints within an epoch; the end of an epoch always has one
  StopSignal* stop = nullptr;      ///< how it is stopped; null: it cannot be
  /// Receives the line of the log of every epoch, {"epoch": 1, "loss": ...}, also without an `out`, when the epoch has
  /// been saved; by one process of several. What it throws ends the training, which can then be resumed.
  std::function<void(const nlohmann::json& epoch)> on_epoch = {};

  /// `out` + ".last": the state after the last checkpoint.
  [[nodiscard]] std::filesystem::path last() const { return out.string() + ".last"; }
  /// `out` + ".last.previous": the checkpoint before, for the case that `last` is damaged. Gone when all is done.
  [[nodiscard]] std::filesystem::path previous() const { return out.string() + ".last.previous"; }
  /// `out` + ".jsonl": one JSON object an epoch.
  [[nodiscard]] std::filesystem::path log() const { return out.string() + ".jsonl"; }
};

}  // namespace protocom
