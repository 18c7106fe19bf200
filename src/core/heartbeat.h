#pragma once
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace protocom {

/// Tells the other processes of a job that this one lives, and finds out who does not. Each process counts up a key of
/// the store from a thread of its own, which also watches the others' counts.
class Heartbeat {
 public:
  Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, int size);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// The processes that are gone: those that another one has found gone first (it may have ended since because of
  /// that), else those whose count stands still for a few seconds. Only process 0, which keeps the store, when that is
  /// out of reach. Takes a few seconds.
  [[nodiscard]] std::vector<int> find_gone() const;

  /// The processes that have been silent for kSilence, though nothing says that they are gone (they are stopped, or
  /// their machine hangs). Does not wait, not even for the store.
  [[nodiscard]] std::vector<int> find_silent() const;
  static constexpr std::chrono::seconds kSilence{30};

  /// Tells the others why this process ends.
  void announce_failure(const std::string& reason) const;
  /// What others have announced, by rank, as of half a second ago. Does not wait.
  [[nodiscard]] std::map<int, std::string> failures() const;

 private:
  struct Watch;

  [[nodiscard]] std::vector<int64_t> counts() const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  std::shared_ptr<Watch> watch_;  // its thread may outlive this object, waiting for a store that does not answer
};

}  // namespace protocom
