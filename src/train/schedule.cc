#include "protocom/train/schedule.h"

#include <cmath>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kStepFactor = 0.1;

/// From 1 at 0 to 0 at 1.
double half_cosine(double share) { return 0.5 * (1 + std::cos(kPi * share)); }

}  // namespace

ScheduleShape parse_schedule_shape(const std::string& text) {
  if (text == "step") return ScheduleShape::kStep;
  for (const ScheduleShape shape : {ScheduleShape::kCosine, ScheduleShape::kCosineSteps}) {
    if (text == to_string(shape)) return shape;
  }
  fail_usage("unknown learning-rate schedule '{}': expected step, cosine or cosine-steps", text);
}

std::string_view to_string(ScheduleShape shape) {
  switch (shape) {
    case ScheduleShape::kCosine:
      return "cosine";
    case ScheduleShape::kCosineSteps:
      return "cosine-steps";
    case ScheduleShape::kStep:
      break;
  }
  return "step";
}

double Schedule::at(int64_t epoch) const {
  const auto total = static_cast<double>(epochs);
  if (shape != ScheduleShape::kStep) return learning_rate * half_cosine(static_cast<double>(epoch) / total);
  double rate = learning_rate;
  for (const double milestone : milestones) {
    if (epoch >= std::llround(milestone * total)) rate *= kStepFactor;
  }
  return rate;
}

double Schedule::at(int64_t epoch, int64_t step, int64_t steps) const {
  const double rising = warm_up * static_cast<double>(epochs * steps);
  const auto done = static_cast<double>(epoch * steps + step);
  const double rate = shape == ScheduleShape::kCosineSteps
                          ? learning_rate * half_cosine(done / static_cast<double>(epochs * steps))
                          : at(epoch);
  return done + 1 < rising ? rate * (done + 1) / rising : rate;
}

}  // namespace protocom
