#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {

struct SoftKMeansOptions {
  double sharpness = 1;
  int64_t steps = 1;
};

/// Class means that take in the unlabelled images, by steps of
///   r_jk = softmax_k(-sharpness |q_j - m_k|^2),  m_k = (sum of supports + sum_j r_jk q_j) / (K + sum_j r_jk):
/// equation 6 of Ren et al., ICLR 2018. In coefficients of the task's points. One per thread.
class SoftKMeans {
 public:
  explicit SoftKMeans(const SoftKMeansOptions& options) : options_(options) {}

  /// Returns -sharpness |x - m_k|^2 of all points after the steps, class by class, [n, stride()]; valid until the next
  /// call. `rows` [m] of `dim` floats each replace the task's.
  const Floats& place(const Task& task, const std::vector<const float*>& rows, int64_t dim);
  [[nodiscard]] int64_t stride() const { return span_.stride(); }

 private:
  void compute_logits(int64_t n);

  SoftKMeansOptions options_;
  RowSpan span_;
  Floats means_, labels_, logits_;  // [n, stride]
};

}  // namespace protocom
