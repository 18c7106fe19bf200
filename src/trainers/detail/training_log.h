#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>

#include "training/training_files.h"

namespace protocom {

/// The human-readable log of a training: `files.log()`, one JSON object per epoch. A training that was interrupted and
/// continues logs no epoch twice. With an empty `files.out` nothing is written.
class TrainingLog {
 public:
  static constexpr int64_t kNew = -1;

  /// For a training with `epochs_done` completed (kNew: for a new one): removes what the log holds of later epochs.
  /// Throws Error.
  TrainingLog(const TrainingFiles& files, int64_t epochs_done);

  /// Adds an epoch as the line {"epoch": epoch, ...figures}. Call it before the epoch's checkpoint is written, which
  /// then never has an epoch that the log lacks. Throws Error.
  void add(int64_t epoch, const nlohmann::json& figures) const;

 private:
  const TrainingFiles& files_;
};

}  // namespace protocom
