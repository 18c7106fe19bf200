#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"

namespace protocom {

/// Settings of training a method's parameters by steps of Adam.
struct StepTraining {
  std::string what;  ///< for the progress
  int64_t steps = 1000;
  double learning_rate = 1e-3;
  double weight_decay = 0;
  int64_t checks = 20;  ///< number of times that the held-out figure is measured
};

/// Result of the training.
struct StepTrained {
  int64_t step = -1;    ///< of the kept parameters; -1: the last, since nothing was held out
  double held_out = 0;  ///< their held-out figure

  /// Returns "Trained for 400 of 2000 steps, which was best on classes held out of it: 61.2 %."; nothing if no classes
  /// were held out.
  [[nodiscard]] std::vector<std::string> sentences(int64_t steps) const;
};

/// Minimises `loss()`, which draws its own data, and keeps the parameters of the check with the largest `held_out()`, a
/// share; if that is null, the last ones. The parameters are changed in place and lose their gradients at the end.
/// Throws Error for a loss that is not finite.
StepTrained train_steps(const std::vector<at::Tensor>& parameters, const StepTraining& training,
                        const std::function<at::Tensor()>& loss, const std::function<double()>& held_out,
                        Progress& progress);

}  // namespace protocom
