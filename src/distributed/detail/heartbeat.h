#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace protocom {

/// The intervals and time limits of a heartbeat.
struct HeartbeatTimes {
  std::chrono::milliseconds beat{500};
  std::chrono::milliseconds check_interval{2000};  ///< between two checks
  std::chrono::milliseconds silence{
      30000};  ///< time without a beat until a process counts as lost, at the second check
  /// Time from then until on_loss is called: a process that waits for the lost one reports it in more detail and ends
  /// before.
  std::chrono::milliseconds report_delay{10000};
};

/// Signals to the other processes of a job that this one is alive, and finds those that are not. Each process
/// increments a key of the store from a separate thread, which also reads the others' counts. A second thread, which
/// never accesses the store, judges them: it continues while the store does not answer, whatever the process computes.
class Heartbeat {
 public:
  /// Called by the second thread, once, with the ranks that are lost, if the process still runs some time after they
  /// were found lost: it computes, and would learn of it late, or hangs.
  using OnLoss = std::function<void(const std::vector<int>&)>;

  /// `store` should have a connection of its own, so that a beat waits for nothing else.
  Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, int size, OnLoss on_loss, HeartbeatTimes times = {});
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Returns the processes that are gone: those that another one has found gone first (it may have ended since because
  /// of that), else those whose count has not changed for a few seconds. Only process 0, which keeps the store, if that
  /// is unreachable. Takes a few seconds.
  [[nodiscard]] std::vector<int> find_gone() const;

  /// Returns the processes that have been silent for HeartbeatTimes::silence at two checks, though nothing reports that
  /// they are gone (they are stopped, or their machine hangs), and process 0 if its store is gone. Does not wait, not
  /// even for the store.
  [[nodiscard]] std::vector<int> lost() const;

  /// Tells the others why this process ends.
  void announce_failure(const std::string& reason) const;
  /// Returns what others have announced, by rank, as of half a second ago. Does not wait.
  [[nodiscard]] std::map<int, std::string> failures() const;

  /// Announces that this process is done, so that its silence is not a loss. Process 0, with which the store ends,
  /// waits a moment until all others have read it.
  void leave() const;
  /// Announces that this process no longer needs the others. Process 0 waits until all others have announced it, at
  /// most `most`; not for those that are `gone`.
  void part(std::chrono::milliseconds most, const std::vector<int>& gone = {}) const;

 private:
  struct Watch;

  [[nodiscard]] std::vector<int64_t> counts() const;
  void tell(const std::string& key, const std::string& text) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  HeartbeatTimes times_;
  std::shared_ptr<Watch> watch_;  // its threads may outlive this object, waiting for a store that does not answer
};

}  // namespace protocom
