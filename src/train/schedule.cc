#include "protocom/train/schedule.h"

#include <cmath>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kStepFactor = 0.1;

}  // namespace

ScheduleShape parse_schedule_shape(const std::string& text) {
  if (text == "step") return ScheduleShape::kStep;
  if (text == "cosine") return ScheduleShape::kCosine;
  fail_usage("unknown learning-rate schedule '{}': expected step or cosine", text);
}

std::string_view to_string(ScheduleShape shape) { return shape == ScheduleShape::kStep ? "step" : "cosine"; }

double Schedule::at(int64_t epoch) const {
  const auto total = static_cast<double>(epochs);
  if (shape == ScheduleShape::kCosine)
    return learning_rate * 0.5 * (1 + std::cos(kPi * static_cast<double>(epoch) / total));
  double rate = learning_rate;
  for (const double milestone : milestones) {
    if (epoch >= std::llround(milestone * total)) rate *= kStepFactor;
  }
  return rate;
}

double Schedule::at(int64_t epoch, int64_t step, int64_t steps) const {
  const double rising = warm_up * static_cast<double>(epochs * steps);
  const auto now = static_cast<double>(epoch * steps + step + 1);
  return now < rising ? at(epoch) * now / rising : at(epoch);
}

}  // namespace protocom
