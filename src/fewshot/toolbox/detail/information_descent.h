#pragma once
#include "fewshot/task.h"
#include "fewshot/toolbox/detail/information_kernels.h"

namespace protocom {

struct DescentOptions {
  double rate = 1e-4;
  int64_t steps = 1000;
};

/// Logits temperature (x.w - |w|^2 / 2) by class weights w after steps of Adam on the loss, from the class means. One
/// per thread.
class InformationDescent {
 public:
  /// Logits [q, n].
  void answer(const Task& task, const InformationLoss& loss, const DescentOptions& options, float* logits);

 private:
  Floats labels_;   // [n, s + u]
  Floats weights_;  // [n, dim]
};

}  // namespace protocom
