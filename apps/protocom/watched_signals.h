#pragma once
#include <csignal>

namespace protocom::cli {

/// Returns the signals that end a program, except those that its parent set to be ignored (nohup, a script's background
/// job).
inline sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace protocom::cli
