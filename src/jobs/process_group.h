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
/// neither it nor a network. When another process dies, announces that it fails, or is silent for `Launch::silence`,
/// the operation that misses it throws an Error that names its rank and, where it is known, the reason. Every process
/// calls the same operations in the same order; not thread-safe.
class ProcessGroup {
 public:
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

  /// Rows [n_i, ...] of every process, joined in the order of ranks: [sum n_i, ...], to the last bit. The n_i may
  /// differ.
  [[nodiscard]] Array gather_rows(const Array& rows) const;
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

  /// What reaches the others, for the plug-in that made it; null for a group of one.
  [[nodiscard]] Connection* connection() const { return connection_.get(); }

 private:
  Launch launch_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace protocom
