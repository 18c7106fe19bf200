#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace protocom {

/// Estimate of the whole training from its first steps.
struct TimeEstimate {
  double step_seconds = 0;
  int64_t steps_an_epoch = 1;
  int64_t steps_left = 0;
  int64_t epochs = 1;
  double memory_bytes = 0;  ///< peak of the process so far
};

/// Returns "about 5 h 20 min for 60 epochs (0.40 s a step), 1.3 GB of memory so far; --epochs 11 takes about an hour,
/// ...": the second part, which ends with `shorter_way`, only above two hours. Empty below two minutes.
std::string say_estimate(const TimeEstimate& estimate, const std::string& shorter_way);

/// Times the first steps of a run, except the very first, in which memory is allocated and kernels are chosen.
class StepTimer {
 public:
  /// Called after each step. Returns the seconds per step, once, as soon as they are known.
  std::optional<double> step();

 private:
  std::optional<std::chrono::steady_clock::time_point> start_;
  int64_t steps_ = 0;
  bool said_ = false;
};

/// Returns the peak memory of this process, bytes.
double peak_memory();

}  // namespace protocom
