#pragma once
#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace protocom {

/// Where this process stands among those of its job, as the launcher says it.
struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the processes of this machine: the GPU it takes
  int local_size = 1;  ///< processes of this machine, which share its cores
  std::string host = "127.0.0.1";
  int port = 29500;
  std::chrono::seconds patience{60};  ///< until all have joined
  std::chrono::seconds silence{30};   ///< without a sign of life, until a process is taken for lost
  bool hosted_store = false;          ///< the launcher itself keeps the store where processes meet (torchrun)
};

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT (torchrun, or by hand); where WORLD_SIZE is not set,
/// what mpirun (OMPI_COMM_WORLD_*, PMI_*) or srun (SLURM_*) set, with MASTER_ADDR and MASTER_PORT. PROTOCOM_PATIENCE is
/// the seconds to wait until all have joined, PROTOCOM_SILENCE those without a sign of life until a process is taken
/// for lost. A job of one where nothing is set. Throws UsageError for values that do not make sense.
Launch launch_from_environment();

/// The processes of a job that compute together, on PyTorch's distributed engine (c10d): Gloo between CPUs, NCCL
/// between GPUs where LibTorch has it. A group of one needs no network. When another process dies, announces that it
/// fails, or is silent for `Launch::silence`, the operation that misses it throws an Error that names its rank and,
/// where it is known, the reason. Every process calls the same operations in the same order; not thread-safe.
class ProcessGroup {
 public:
  /// What to do when another process is lost while this one computes or hangs; called from a thread of its own.
  using OnLoss = std::function<void(const std::string& sentence)>;

  /// Joins the job, waiting until all are there; logs for how many it waits. Throws Error, with the ranks that are
  /// missing, when they do not come within `launch.patience`. Without `on_loss`, a process learns that another one is
  /// lost when it next waits for it.
  explicit ProcessGroup(const Launch& launch, OnLoss on_loss = {});
  /// The group of this process alone.
  static const ProcessGroup& single();
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  [[nodiscard]] int rank() const { return launch_.rank; }
  [[nodiscard]] int size() const { return launch_.size; }
  [[nodiscard]] int local_rank() const { return launch_.local_rank; }
  [[nodiscard]] bool is_single() const { return launch_.size == 1; }
  /// Whether this process writes and reports for all.
  [[nodiscard]] bool is_main() const { return launch_.rank == 0; }

  /// The share [begin, end) of `count` things that falls to this process; the shares of all make up the whole, in
  /// order.
  [[nodiscard]] std::pair<int64_t, int64_t> share(int64_t count) const;

  /// Replaces the tensor by its sum over all processes.
  void sum(at::Tensor tensor) const;
  /// Begins the same and returns at once; the function it gives waits for the end. The sums that processes have begun
  /// must be the same ones in the same order.
  [[nodiscard]] std::function<void()> start_sum(at::Tensor tensor) const;
  /// Replaces the tensor by that of process 0.
  void broadcast(at::Tensor tensor) const;
  /// Rows [n_i, ...] of every process, joined in the order of ranks: [sum n_i, ...]. The n_i may differ.
  [[nodiscard]] at::Tensor gather_rows(const at::Tensor& rows) const;
  /// The text of process 0.
  [[nodiscard]] std::string broadcast(const std::string& text) const;
  /// Waits for all.
  void barrier() const;

  /// Tells the others why this process is about to end: what they wait for throws an Error with that reason. Process 0
  /// stays for a few seconds, until they have heard.
  void announce_failure(const std::string& reason) const;
  /// Says that this process has done its part: the others do not wait for a sign of life from it any more. The last
  /// call.
  void leave() const;
  /// Whether an operation was given up because another process does not answer. The connection then stays open for
  /// ever, for closing it would wait: the program should end at once.
  [[nodiscard]] bool broken() const;

  /// Runs something that waits for others; when it fails because a process is gone, throws an Error that names its
  /// rank.
  template <typename Operation>
  auto guard(Operation operation) const {
    try {
      return operation();
    } catch (const std::exception& error) {
      explain(error);
      throw;
    }
  }

 private:
  struct Connection;

  /// Throws the Error that says which rank is gone, when one is.
  void explain(const std::exception& error) const;

  /// Waits for an operation between CPUs, with an eye on the others.
  template <typename Work>
  void wait_for(Work& work) const;

  Launch launch_;
  std::unique_ptr<Connection> connection_;  // null for a group of one
};

}  // namespace protocom
