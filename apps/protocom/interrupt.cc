#include "interrupt.h"

#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli.h"
#include "io/unfinished.h"
#include "standard_streams.h"
#include "terminal_progress.h"
#include "watched_signals.h"

namespace protocom::cli {
namespace {

constexpr int kSignalBase = 128;

[[noreturn]] void end_at_once(int signal) {
  remove_unfinished();
  terminal_progress().clear();
  say(fmt::format("protocom: ended by {}\n", signal_name(signal)));
  std::_Exit(kSignalBase + signal);
}

void answer(int signal) {
  const bool second = stop_signal().requested();
  if (second || !stop_signal().request(signal)) end_at_once(signal);
  logger().info("{}: finishing the current work; a second one ends at once", signal_name(signal));
}

void watch(sigset_t set) {
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) == 0) answer(signal);
  }
}

}  // namespace

void watch_signals() {
  // A write beyond `ulimit -f` fails with a reason, like one to a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  const sigset_t set = watched_signals();
  // A handler could neither lock nor allocate, so these signals are blocked in all threads, and one thread waits for
  // them.
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set] { watch(set); }).detach();
}

StopSignal& stop_signal() {
  static StopSignal signal;
  return signal;
}

void stop_if_asked() {
  if (!stop_signal().requested()) return;
  const int signal = stop_signal().signal();
  throw Interrupted(signal, fmt::format("stopped by {}", signal_name(signal)));
}

}  // namespace protocom::cli
