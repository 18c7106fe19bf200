#include "trainers/detail/time_estimate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>

#include "base/to_whole.h"

namespace protocom {
namespace {

using std::chrono::steady_clock;

constexpr double kHour = 3600;
constexpr double kWorthSaying = 120;
constexpr double kLong = 2 * kHour;
constexpr int64_t kFewestSteps = 3;
constexpr int64_t kMostSteps = 20;
constexpr double kLongEnough = 3;  // seconds

std::string hours_and_minutes(double seconds) {
  const auto minutes = to_whole<int64_t>(std::round(seconds / 60));
  if (minutes < 60) return fmt::format("{} min", minutes);
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace

std::string say_estimate(const TimeEstimate& estimate, const std::string& shorter_way) {
  const double seconds = estimate.step_seconds * static_cast<double>(estimate.steps_left);
  if (seconds < kWorthSaying) return "";
  std::string text =
      fmt::format("about {} for {} epochs ({:.2g} s a step), {:.1f} GB of memory so far", hours_and_minutes(seconds),
                  estimate.epochs, estimate.step_seconds, estimate.memory_bytes / 1e9);
  if (seconds < kLong) return text;
  const double epoch = estimate.step_seconds * static_cast<double>(estimate.steps_an_epoch);
  const auto in_an_hour = to_whole<int64_t>(kHour / epoch);
  if (in_an_hour >= 1) text += fmt::format("; --epochs {} takes about an hour", in_an_hour);
  if (!shorter_way.empty()) text += fmt::format("; {}", shorter_way);
  return text;
}

std::optional<double> StepTimer::step() {
  if (said_) return std::nullopt;
  if (!start_) {
    start_ = steady_clock::now();
    return std::nullopt;
  }
  ++steps_;
  const double since = std::chrono::duration<double>(steady_clock::now() - *start_).count();
  if (steps_ < kFewestSteps || (steps_ < kMostSteps && since < kLongEnough)) return std::nullopt;
  said_ = true;
  return since / static_cast<double>(steps_);
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace protocom
