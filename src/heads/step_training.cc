#include "heads/detail/step_training.h"

#include <ATen/core/grad_mode.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "base/error.h"

namespace protocom {
namespace {

/// Keeps the best parameters so far.
class BestParameters {
 public:
  explicit BestParameters(const std::vector<at::Tensor>& parameters) : parameters_(parameters) {}

  void consider(int64_t step, double figure) {
    if (!kept_.empty() && figure <= best_.held_out) return;
    best_ = {step, figure};
    kept_.clear();
    for (const at::Tensor& parameter : parameters_) kept_.push_back(parameter.detach().clone());
  }

  StepTrained restore() {
    for (size_t i = 0; i < kept_.size(); ++i) parameters_[i].detach().copy_(kept_[i]);
    return best_;
  }

 private:
  const std::vector<at::Tensor>& parameters_;
  std::vector<at::Tensor> kept_;
  StepTrained best_;
};

}  // namespace

std::vector<std::string> StepTrained::sentences(int64_t steps) const {
  if (step < 0) return {};
  return {fmt::format("Trained for {} of {} steps, which was best on classes held out of it: {:.1f} %.", step, steps,
                      100 * held_out)};
}

StepTrained train_steps(const std::vector<at::Tensor>& parameters, const StepTraining& training,
                        const std::function<at::Tensor()>& loss, const std::function<double()>& held_out,
                        Progress& progress) {
  const at::AutoGradMode with_gradients(true);
  torch::optim::Adam optimizer(parameters,
                               torch::optim::AdamOptions(training.learning_rate).weight_decay(training.weight_decay));
  BestParameters best(parameters);
  const int64_t every = std::max<int64_t>(1, training.steps / training.checks);
  const auto check = [&](int64_t step) {
    const at::NoGradGuard no_grad;
    if (held_out) best.consider(step, held_out());
  };
  progress.start(training.what, training.steps);
  check(0);
  for (int64_t step = 1; step <= training.steps; ++step) {
    optimizer.zero_grad();
    const at::Tensor value = loss();
    value.backward();
    optimizer.step();
    if (step % every != 0 && step != training.steps) continue;
    const auto shown = value.item<double>();
    if (!std::isfinite(shown))
      fail("the training of '{}' diverged at step {}: try a lower learning rate", training.what, step);
    progress.advance(step, fmt::format("loss {:.4f}", shown));
    check(step);
  }
  progress.finish();
  StepTrained trained = held_out ? best.restore() : StepTrained{};
  for (const at::Tensor& parameter : parameters) parameter.set_requires_grad(false);
  return trained;
}

}  // namespace protocom
