#pragma once
#include <atomic>
#include <stdexcept>
#include <string>

namespace protocom {

/// How a program stops a training: the training finishes its step, saves its state and throws Interrupted. The
/// library handles no signals itself. Thread-safe; `request` may be called from a signal handler.
class StopSignal {
 public:
  /// Asks to stop, because of `signal` (SIGINT, SIGTERM). Returns whether a training is listening: if not, nothing will
  /// stop.
  bool request(int signal) noexcept;
  [[nodiscard]] bool requested() const noexcept { return signal_ != 0; }
  /// The signal of the first request; 0 when there was none.
  [[nodiscard]] int signal() const noexcept { return signal_; }

  /// A training that will answer, for as long as this object lives. `signal` may be null: no stop can be requested
  /// then.
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

/// A training has stopped because it was asked to, and has saved its state. Not an Error: nothing went wrong. The
/// command line exits with 128 + signal.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& message) : std::runtime_error(message), signal_(signal) {}
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// "SIGTERM", "SIGINT", "SIGHUP", else "signal 10".
std::string signal_name(int signal);

}  // namespace protocom
