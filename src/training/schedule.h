#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// How the learning rate decays over a training.
enum class ScheduleShape {
  kStep,        ///< times 0.1 at each milestone: the paper's recipe
  kCosine,      ///< half a cosine from the full rate to 0, one step per epoch: better for short trainings
  kCosineSteps  ///< the same cosine at every step, so that the rate ends near 0 however few epochs there are
};

/// Parses "step", "cosine" or "cosine-steps". Throws UsageError for anything else.
ScheduleShape parse_schedule_shape(std::string_view text);
/// Returns the text that parse_schedule_shape() takes.
std::string_view to_string(ScheduleShape shape);

/// A learning rate that depends only on the position in the training.
struct Schedule {
  ScheduleShape shape = ScheduleShape::kStep;
  double learning_rate = 0.1;  ///< of the first epoch
  int64_t epochs = 100;
  /// Epochs at which kStep falls, as fractions of `epochs`, rounded to whole epochs: 60, 80 and 90 of 100.
  std::vector<double> milestones = {0.6, 0.8, 0.9};
  double warm_up = 0;  ///< fraction of all steps in which the rate rises from 0, before any decay; in [0, 1)

  /// Returns the rate at the start of an epoch, 0 <= epoch < epochs, without the warm-up.
  [[nodiscard]] double at(int64_t epoch) const;
  /// Returns the rate at one of the `steps` of an epoch: at(epoch), or at epoch + step / steps for kCosineSteps, times
  /// min(1, steps so far including this one / steps of the warm-up).
  [[nodiscard]] double at(int64_t epoch, int64_t step, int64_t steps) const;
};

/// Settings of stochastic gradient descent, except for its learning rate.
struct SgdOptions {
  double momentum = 0.9;  ///< Nesterov
  double weight_decay = 5e-4;
};

}  // namespace protocom
