#pragma once
#include "protocom/export.h"

namespace protocom::v0 {

/// Whether tune_process() may restart the program.
enum class Restart { kNo, kIfNeeded };

/// Sets the process up as the program `protocom` does, which makes encoders and evaluations up to several times faster:
/// threads of OpenMP wait briefly for one another and then sleep (libgomp reads that when it is loaded, so the program
/// is executed once more with GOMP_SPINCOUNT set, by the same path and arguments); large blocks of memory are kept for
/// the next ones; all usable cores are used. Call it first in main(), before there are threads or open files. What the
/// user has set by OMP_WAIT_POLICY, GOMP_SPINCOUNT, OMP_NUM_THREADS or glibc's MALLOC_ variables stays. Does not
/// return if it restarts the program; true if everything was set.
PROTOCOM_API bool tune_process(Restart restart = Restart::kIfNeeded);

/// How many threads the library computes with.
PROTOCOM_API int threads();
/// Sets it, for LibTorch in the whole process. 0: all cores that the process may use. Throws UsageError below 0.
PROTOCOM_API void set_threads(int count);

}  // namespace protocom::v0
