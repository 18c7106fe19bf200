#pragma once
#include <chrono>
#include <mutex>

#include "store/database_error.h"

namespace protocom::http {

/// The state of the recognizer's file as requests have found it. A request need not wait again for a program that an
/// earlier request has already waited for; a replacement of the file, and its return, are logged once. Thread-safe.
class FileState {
 public:
  using Clock = std::chrono::steady_clock;

  /// Runs `work`, which uses the file and returns something, for a request that arrived at `arrived`. Throws what it
  /// throws, and DatabaseError kBusy, without a try, if the file was found locked by another program since then.
  template <typename Work>
  auto use(Clock::time_point arrived, const Work& work) {
    check(arrived);
    try {
      auto result = work();
      note_found();
      return result;
    } catch (const DatabaseError& error) {
      note(error);
      throw;
    }
  }

 private:
  void check(Clock::time_point arrived);
  void note(const DatabaseError& error);
  void note_found();

  std::mutex mutex_;
  Clock::time_point busy_at_ = Clock::time_point::min();
  bool is_replaced_ = false;
};

}  // namespace protocom::http
