#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>

#include "training/training_files.h"

namespace protocom {

/// The log of a training that people read: `files.log()`, one JSON object an epoch. A training that was cut off and
/// continues leaves no epoch twice. With an empty `files.out` nothing is written.
class TrainingLog {
 public:
  static constexpr int64_t kNew = -1;

  /// For a training that has `epochs_done` behind it (kNew: for one that starts): what the log holds of later epochs is
  /// removed. Throws Error.
  TrainingLog(const TrainingFiles& files, int64_t epochs_done);

  /// Adds an epoch as the line {"epoch": epoch, ...figures}. Call it before the epoch's checkpoint, which then never
  /// has an epoch that the log does not have. Throws Error.
  void add(int64_t epoch, const nlohmann::json& figures) const;

 private:
  const TrainingFiles& files_;
};

}  // namespace protocom
