#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace protocom {

/// What the first steps of a training say of all of it.
struct TimeEstimate {
  double step_seconds = 0;
  int64_t steps_an_epoch = 1;
  int64_t steps_left = 0;
  int64_t epochs = 1;
  double memory_bytes = 0;  ///< the most that the process has held so far
};

/// "about 5 h 20 min for 60 epochs (0.40 s a step), 1.3 GB of memory so far; --epochs 11 takes about an hour, ...": the
/// second part, with `shorter_way` at its end, where it is above two hours. Empty if it is below two minutes.
std::string say_estimate(const TimeEstimate& estimate, const std::string& shorter_way);

/// Times the first steps of a run. The very first is left out: memory is taken and kernels are chosen in it.
class StepTimer {
 public:
  /// A step is done. Gives the seconds a step takes, once, as soon as it is known.
  std::optional<double> step();

 private:
  std::optional<std::chrono::steady_clock::time_point> start_;
  int64_t steps_ = 0;
  bool said_ = false;
};

/// The most memory that this process has held, bytes.
double peak_memory();

}  // namespace protocom
