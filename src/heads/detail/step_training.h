#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"

namespace protocom {

/// How a method's parameters are learned: by steps of Adam.
struct StepTraining {
  std::string what;  ///< for the progress
  int64_t steps = 1000;
  double learning_rate = 1e-3;
  double weight_decay = 0;
  int64_t checks = 20;  ///< times at which the held-out figure is taken
};

/// What came of it.
struct StepTrained {
  int64_t step = -1;    ///< whose parameters were kept; -1: the last, nothing was held out
  double held_out = 0;  ///< their figure

  /// "Trained for 400 of 2000 steps, which was best on classes held out of it: 61.2 %."; none when none were held out.
  [[nodiscard]] std::vector<std::string> sentences(int64_t steps) const;
};

/// Lowers `loss()`, which draws its own data, and keeps the parameters of the check with the largest `held_out()`, a
/// share; without it (null) the last ones. The parameters are changed in place and lose their gradients at the end.
/// Throws Error for a loss that is not finite.
StepTrained train_steps(const std::vector<at::Tensor>& parameters, const StepTraining& training,
                        const std::function<at::Tensor()>& loss, const std::function<double()>& held_out,
                        Progress& progress);

}  // namespace protocom
