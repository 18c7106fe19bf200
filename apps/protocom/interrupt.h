#pragma once
#include "base/stop_signal.h"

namespace protocom::cli {

/// Waits for Ctrl-C (SIGINT), SIGTERM and SIGHUP in a separate thread. A training that listens is stopped: it finishes
/// its step and saves its state; so is a server, which answers what it accepted. Anything else, and everything at the
/// second signal, ends at once: unfinished files are removed and the program exits with 128 + signal. Call it before
/// any other thread starts.
void watch_signals();

/// The signal that stops trainings (TrainingFiles::stop) and the server.
StopSignal& stop_signal();

/// Throws Interrupted if a signal came to which no training has responded: between the stages of a run.
void stop_if_asked();

}  // namespace protocom::cli
