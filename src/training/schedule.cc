#include "training/schedule.h"

#include <cmath>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr EnumWord<ScheduleShape> kScheduleShapes[] = {
    {ScheduleShape::kStep, "step"}, {ScheduleShape::kCosine, "cosine"}, {ScheduleShape::kCosineSteps, "cosine-steps"}};

constexpr double kPi = 3.14159265358979323846;
constexpr double kStepFactor = 0.1;

/// Falls from 1 at 0 to 0 at 1.
double half_cosine(double share) { return 0.5 * (1 + std::cos(kPi * share)); }

}  // namespace

ScheduleShape parse_schedule_shape(std::string_view text) {
  return value_of(kScheduleShapes, text, "learning-rate schedule");
}

std::string_view to_string(ScheduleShape shape) { return word_of(kScheduleShapes, shape); }

double Schedule::at(int64_t epoch) const {
  const auto total = static_cast<double>(epochs);
  if (shape != ScheduleShape::kStep) return learning_rate * half_cosine(static_cast<double>(epoch) / total);
  double rate = learning_rate;
  for (const double milestone : milestones) {
    if (epoch >= to_whole<int64_t>(std::round(milestone * total))) rate *= kStepFactor;
  }
  return rate;
}

double Schedule::at(int64_t epoch, int64_t step, int64_t steps) const {
  const double rising = warm_up * static_cast<double>(epochs * steps);
  const auto done = static_cast<double>(epoch * steps + step);
  const double rate = shape == ScheduleShape::kCosineSteps
                          ? learning_rate * half_cosine(done / static_cast<double>(epochs * steps))
                          : at(epoch);
  // The first step is not wasted: it has a share of the rate instead of 0.
  return done + 1 < rising ? rate * (done + 1) / rising : rate;
}

}  // namespace protocom
