#pragma once
#include "base/matrix.h"

namespace protocom {

/// Adam (Kingma and Ba, 2015) with beta .9 and .999 and epsilon 1e-8.
class Adam {
 public:
  explicit Adam(double rate) : rate_(rate) {}

  /// Takes one step against the gradient, which has the shape of the weights.
  void step(const FloatMatrix& gradient, FloatMatrix& weights);

 private:
  double rate_;
  int64_t steps_ = 0;
  FloatMatrix moments_[2];  // of the gradients so far
};

}  // namespace protocom
