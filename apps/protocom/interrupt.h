#pragma once
#include "protocom/train/stop_signal.h"

namespace protocom::cli {

/// Watches for Ctrl-C (SIGINT), SIGTERM and SIGHUP in a thread of its own. A training that listens is asked to stop: it
/// finishes its step and saves its state. Anything else, and everything at the second signal, ends at once: unfinished
/// files are removed and the program exits with 128 + signal. Call it before any other thread starts.
void watch_signals();

/// How trainings are asked to stop: TrainingFiles::stop.
StopSignal& stop_signal();

/// Throws Interrupted when a signal came that no training has answered: between the stages of a run.
void stop_if_asked();

}  // namespace protocom::cli
