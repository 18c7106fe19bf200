#pragma once
#include <atomic>
#include <stdexcept>
#include <string>

namespace protocom {

/// Lets a program stop a training: the training finishes its step, saves its state and throws Interrupted. The library
/// handles no signals itself. Thread-safe; `request` may be called from a signal handler.
class StopSignal {
 public:
  /// Requests a stop, because of `signal` (SIGINT, SIGTERM). Returns whether a training is listening: if not, nothing
  /// will stop.
  bool request(int signal) noexcept;
  [[nodiscard]] bool requested() const noexcept { return signal_ != 0; }
  /// The signal of the first request; 0 if there was none.
  [[nodiscard]] int signal() const noexcept { return signal_; }

  /// Marks a training that will respond, for the lifetime of this object. `signal` may be null: no stop can be
  /// requested then.
  class Listener {
   public:
    explicit Listener(StopSignal* signal);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    StopSignal* signal_;
  };

 private:
  std::atomic<int> signal_{0};
  std::atomic<int> listeners_{0};
};

/// Thrown by a training that was stopped on request, and has saved its state. Not an Error: nothing went wrong. The
/// command line exits with 128 + signal.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& message) : std::runtime_error(message), signal_(signal) {}
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// Returns "SIGTERM", "SIGINT", "SIGHUP", else "signal 10".
std::string signal_name(int signal);

}  // namespace protocom
