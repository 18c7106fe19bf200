#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// The progress of a job.
struct ProgressStep {
  std::string job;     ///< "extract"
  int64_t done = 0;    ///< of `total`
  int64_t total = 0;   ///< steps
  std::string detail;  ///< figures, "loss 0.123"; may be empty
};

/// Called at every step, in the thread that made the call. An exception ends the job and is re-raised unchanged. Empty:
/// no reports.
using Progress = std::function<void(const ProgressStep& step)>;

}  // namespace protocom::v0
