#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/array.h"
#include "jobs/connection.h"
#include "jobs/launch.h"

namespace protocom {

/// The processes of a job that compute together: a plug-in connects several (torch_connect), a group of one needs
/// neither it nor a network. If another process dies, announces a failure, or is silent for `Launch::silence`, the
/// operation that waits for it throws an Error that names its rank and, if known, the reason. Every process calls the
/// same operations in the same order; not thread-safe.
class ProcessGroup {
 public:
  /// Joins the job, waiting until all have joined; logs how many it waits for. Throws Error, with the missing ranks, if
  /// they do not join within `launch.patience`. Without `on_loss`, a process learns of the loss of another one when it
  /// next waits for it.
  explicit ProcessGroup(const Launch& launch, OnLoss on_loss = {});
  /// Returns the group of this process alone.
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

  /// Returns this process's share [begin, end) of `count` items; the shares of all processes make up the whole, in
  /// order.
  [[nodiscard]] std::pair<int64_t, int64_t> share(int64_t count) const;

  /// Joins rows [n_i, ...] of all processes in the order of ranks: [sum n_i, ...], to the last bit. The n_i may differ.
  [[nodiscard]] Array gather_rows(const Array& rows) const;
  /// Returns the text of process 0.
  [[nodiscard]] std::string broadcast(const std::string& text) const;
  /// Waits for all processes.
  void barrier() const;

  /// Tells the others why this process is about to end: operations that wait for it throw an Error with that reason.
  /// Process 0 stays for a few seconds, until they have received it.
  void announce_failure(const std::string& reason) const;
  /// Announces that this process is done: the others no longer expect a heartbeat from it. The last call.
  void leave() const;
  /// Whether an operation was given up because another process does not answer. The connection then stays open forever,
  /// since closing it would wait: the program should end at once.
  [[nodiscard]] bool broken() const;

  /// The connection to the others, for the plug-in that made it; null for a group of one.
  [[nodiscard]] Connection* connection() const { return connection_.get(); }

 private:
  Launch launch_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace protocom
