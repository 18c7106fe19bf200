#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "protocom/train/training_files.h"
#include "train/event_file.h"

namespace protocom {

/// The logs of a training that people read: `files.log()`, one JSON object an epoch, and TensorBoard curves in
/// `files.events()`. A training that was cut off and goes on leaves no epoch twice. With an empty `files.out` nothing
/// is written.
class TrainingLog {
 public:
  static constexpr int64_t kNew = -1;

  /// For a training that has `epochs_done` behind it (kNew: for one that starts): what the logs hold of later epochs is
  /// removed. Throws Error.
  TrainingLog(const TrainingFiles& files, int64_t epochs_done);
  ~TrainingLog();

  /// Adds an epoch: {"epoch": epoch, ...figures} to the JSON lines, the curves at step `epoch` to TensorBoard's. Call
  /// it before the epoch's checkpoint, which then never knows of an epoch that the logs do not. Throws Error.
  void add(int64_t epoch, const nlohmann::json& figures, const std::vector<Scalar>& curves);

 private:
  const TrainingFiles& files_;
  std::unique_ptr<EventFile> events_;  // created with the first epoch
};

}  // namespace protocom
