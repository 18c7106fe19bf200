#pragma once
#include <cstdint>

#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {

/// Logits -factor |x - m_k|^2 of a task's points, and the transport plan that gives each class equally many of the
/// unlabelled ones (sinkhorn.h). One per thread.
class BalancedLogits {
 public:
  explicit BalancedLogits(double factor) : factor_(static_cast<float>(factor)) {}

  /// Takes the class means as coefficients of the points, [n, span.stride()].
  void place(const Task& task, RowSpan& span, const Floats& means);
  /// Returns the distance between the rows of consecutive classes in plan().
  [[nodiscard]] int64_t plan_stride() const { return plan_stride_; }
  /// Computes the plan class by class, [n, plan_stride()], of which the first u count; once after each place().
  Floats& plan();
  /// Computes the logits [q, n] of the queries, whose softmax is a row of the plan.
  void answer(const Task& task, float* logits) const;

 private:
  void compute_kernel(const Task& task);

  float factor_;
  int64_t stride_ = 0, plan_stride_ = 0;
  Floats logits_;  // [n, stride]
  Floats kernel_;  // [n, plan's stride], then the plan
  Floats scales_;  // [n], of the plan's columns
};

}  // namespace protocom
