#pragma once
#include <ATen/core/Tensor.h>

#include <exception>
#include <functional>

#include "jobs/process_group.h"

namespace protocom {

/// What the processes of a group do with tensors, on CPUs and GPUs. Of a group of one they change nothing. All throw
/// what operations of a ProcessGroup throw, and keep to its order.

/// Replaces the tensor by its sum over all processes.
void sum(const ProcessGroup& group, const at::Tensor& tensor);

/// Begins the same and returns at once; the function it gives waits for the end, and is called within guarded(). The
/// sums that processes have begun must be the same ones in the same order.
[[nodiscard]] std::function<void()> start_sum(const ProcessGroup& group, const at::Tensor& tensor);

/// Replaces the tensor by that of process 0.
void broadcast(const ProcessGroup& group, const at::Tensor& tensor);

/// Throws an Error that names the process that is gone or has failed, when `error` came from that.
void explain(const ProcessGroup& group, const std::exception& error);

/// Runs something that waits for others; when it fails because a process is gone, throws an Error that names its rank.
template <typename Operation>
auto guarded(const ProcessGroup& group, Operation operation) {
  try {
    return operation();
  } catch (const std::exception& error) {
    explain(group, error);
    throw;
  }
}

}  // namespace protocom
