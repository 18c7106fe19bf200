#pragma once
#include <ATen/core/Tensor.h>

#include <exception>
#include <functional>

#include "jobs/process_group.h"

namespace protocom {

/// Operations of a group's processes on tensors, on CPUs and GPUs. For a group of one they change nothing. All throw
/// what operations of a ProcessGroup throw, and must be called in the same order.

/// Replaces the tensor by its sum over all processes.
void sum(const ProcessGroup& group, const at::Tensor& tensor);

/// Starts the sum and returns at once; the returned function waits for the end, and is called within guarded().
/// Processes must start the same sums in the same order.
[[nodiscard]] std::function<void()> start_sum(const ProcessGroup& group, const at::Tensor& tensor);

/// Replaces the tensor by that of process 0.
void broadcast(const ProcessGroup& group, const at::Tensor& tensor);

/// Throws an Error that names the process that is gone or has failed, if that caused `error`.
void explain(const ProcessGroup& group, const std::exception& error);

/// Runs an operation that waits for others; if it fails because a process is gone, throws an Error that names its rank.
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
