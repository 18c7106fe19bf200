#pragma once
#include "protocom/export.h"

namespace protocom::v0 {

/// Whether tune_process() may restart the program.
enum class Restart { kNo, kIfNeeded };

/// Configures the process as the program `protocom` does, which can make encoders and evaluations several times faster:
/// - OpenMP threads spin only briefly before they sleep. libgomp reads this setting when it is loaded, so the
///   program is executed again, with the same path and arguments, and GOMP_SPINCOUNT set.
/// - malloc keeps large blocks of memory for reuse.
/// - All usable cores are used.
/// Call it first in main(), before threads are started or files opened. The user's OMP_WAIT_POLICY, GOMP_SPINCOUNT,
/// OMP_NUM_THREADS and glibc MALLOC_ variables have priority. Does not return if it restarts the program; returns true
/// if everything was set.
PROTOCOM_API bool tune_process(Restart restart = Restart::kIfNeeded);

/// Returns the number of threads of the library's computations.
PROTOCOM_API int threads();
/// Sets the number of threads, also LibTorch's, for the whole process. 0: all cores that the process may use. Throws
/// UsageError below 0.
PROTOCOM_API void set_threads(int count);

}  // namespace protocom::v0
