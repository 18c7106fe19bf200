#pragma once
#include <ATen/core/Tensor.h>

#include "jobs/process_group.h"

namespace protocom {

/// During its lifetime, batch norm in training (BackboneMode::kTrain) on this thread normalises by mean and variance
/// over the batches of all processes of a group, as one process with the whole batch would. One exchange forward and
/// one backward for each batch norm.
class SharedBatchStatistics {
 public:
  /// `group` must outlive this object and the backward passes of everything computed under it.
  explicit SharedBatchStatistics(const ProcessGroup& group);
  ~SharedBatchStatistics();
  SharedBatchStatistics(const SharedBatchStatistics&) = delete;
  SharedBatchStatistics& operator=(const SharedBatchStatistics&) = delete;

 private:
  const ProcessGroup* before_;
};

}  // namespace protocom
