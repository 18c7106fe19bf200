#pragma once
#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include <functional>
#include <string>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "distributed/detail/heartbeat.h"
#include "jobs/connection.h"
#include "jobs/launch.h"

namespace protocom {

// LibTorch 2 split the class from which Gloo and NCCL are derived.
#if TORCH_VERSION_MAJOR >= 2
using CollectiveEngine = c10d::Backend;
#else
using CollectiveEngine = c10d::ProcessGroup;
#endif

/// The connection to the others of a job by PyTorch's distributed engine (c10d): Gloo between CPUs, NCCL between GPUs
/// if LibTorch has it.
class TorchConnection : public Connection {
 public:
  /// Throws what ProcessGroup's constructor throws.
  TorchConnection(const Launch& launch, OnLoss on_loss);

  Array gather_rows(const Array& rows) override;
  std::string broadcast(const std::string& text) override;
  void barrier() override;
  void announce_failure(const std::string& reason) override;
  void leave() override;
  [[nodiscard]] bool broken() const override { return broken_; }

  /// The operations of distributed/tensor_sums.h.
  void sum(const at::Tensor& tensor);
  [[nodiscard]] std::function<void()> start_sum(const at::Tensor& tensor);
  void broadcast(const at::Tensor& tensor);
  /// Throws the Error that names the process that is gone or has failed, if that caused `error`; finding out takes a
  /// few seconds.
  void explain(const std::exception& error);

 private:
  [[nodiscard]] CollectiveEngine& engine(c10::Device device) const;
  /// Throws Error if others have failed, or are lost.
  void look_at_others();
  /// Waits for an operation between CPUs, while watching the others.
  template <typename Work>
  void wait_for(Work& work);
  /// Runs an operation that waits for others, and explains a failure.
  template <typename Operation>
  void guard(Operation operation);

  Launch launch_;
  c10::intrusive_ptr<c10d::Store> store_;
  Heartbeat heartbeat_;
  bool broken_ = false;
  std::vector<int> gone_;  // no longer waited for
  c10::intrusive_ptr<CollectiveEngine> cpu_;
  c10::intrusive_ptr<CollectiveEngine> cuda_;  // null without GPUs
};

}  // namespace protocom
