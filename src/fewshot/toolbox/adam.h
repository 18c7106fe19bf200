#pragma once
#include <ATen/ATen.h>

#include <cmath>

namespace protocom {

/// Adam (Kingma and Ba, 2015) on one tensor with gradients that are given: beta .9 and .999, epsilon 1e-8.
class Adam {
 public:
  Adam(const at::Tensor& like, double rate)
      : rate_(rate), first_(at::zeros_like(like)), second_(at::zeros_like(like)) {}

  /// Moves `x` by one step.
  void step(at::Tensor& x, const at::Tensor& gradient) {
    constexpr double kFirst = 0.9;
    constexpr double kSecond = 0.999;
    constexpr double kEpsilon = 1e-8;
    ++steps_;
    first_.mul_(kFirst).add_(gradient, 1 - kFirst);
    second_.mul_(kSecond).addcmul_(gradient, gradient, 1 - kSecond);
    const double first_weight = 1 - std::pow(kFirst, steps_);
    const double root_weight = std::sqrt(1 - std::pow(kSecond, steps_));
    x.addcdiv_(first_, second_.sqrt().div_(root_weight).add_(kEpsilon), -rate_ / first_weight);
  }

 private:
  double rate_;
  int steps_ = 0;
  at::Tensor first_, second_;
};

}  // namespace protocom
