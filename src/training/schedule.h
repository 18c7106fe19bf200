#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// How the learning rate falls over a training.
enum class ScheduleShape {
  kStep,        ///< times 0.1 at each milestone: the paper's recipe
  kCosine,      ///< half a cosine from the full rate to 0, an epoch at a time: kinder to short trainings
  kCosineSteps  ///< the same a step at a time, so that the rate ends near 0 however few epochs there are
};

/// "step", "cosine" or "cosine-steps". Throws UsageError for anything else.
ScheduleShape parse_schedule_shape(std::string_view text);
/// The text that parse_schedule_shape understands.
std::string_view to_string(ScheduleShape shape);

/// A learning rate that depends on the place in the training only.
struct Schedule {
  ScheduleShape shape = ScheduleShape::kStep;
  double learning_rate = 0.1;  ///< of the first epoch
  int64_t epochs = 100;
  /// Where kStep falls, as fractions of `epochs`, rounded to whole epochs: 60, 80 and 90 of 100.
  std::vector<double> milestones = {0.6, 0.8, 0.9};
  double warm_up = 0;  ///< fraction of all steps in which the rate rises from 0, before anything falls; in [0, 1)

  /// The rate at the beginning of an epoch, 0 <= epoch < epochs, but for the warm-up.
  [[nodiscard]] double at(int64_t epoch) const;
  /// The rate of a step of `steps` an epoch: at(epoch), for kCosineSteps at epoch + step / steps, times min(1, steps
  /// until then, this one included / those of the warm-up).
  [[nodiscard]] double at(int64_t epoch, int64_t step, int64_t steps) const;
};

/// Stochastic gradient descent, but for its learning rate.
struct SgdOptions {
  double momentum = 0.9;  ///< Nesterov
  double weight_decay = 5e-4;
};

}  // namespace protocom
