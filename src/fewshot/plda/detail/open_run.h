#pragma once
#include <vector>

#include "fewshot/plda/detail/known.h"
#include "fewshot/task.h"

namespace protocom {

/// A run that also estimates whether an image is of none of the classes.
class OpenRun : public TaskRun {
 public:
  [[nodiscard]] const float* unseen() const final { return unseen_.data(); }

 protected:
  /// Sets compute_unseen() of the task's queries for their logits.
  void set_unseen_logits(const DoubleMatrix& predictive, const DoubleVector& none, const TaskScale& scale,
                         const float* logits) {
    unseen_.resize(static_cast<size_t>(none.size()));
    compute_unseen(predictive, none, scale, logits, unseen_.data());
  }

 private:
  std::vector<float> unseen_;  // [q]
};

}  // namespace protocom
