#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace protocom {

/// Tells the other processes of a job that this one lives, and finds out who does not. Each process counts up a key of
/// the store from a thread of its own.
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

 private:
  void beat();
  [[nodiscard]] std::vector<int64_t> counts() const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace protocom
