#pragma once

namespace protocom {

/// How many threads the work that the calling thread begins may use: as set_thread_count() or a ThreadScope says, else
/// one a core.
int thread_count();

/// Sets it for the calling thread and for all that begin later; `count` >= 1. BLAS takes as many where it asks OpenMP.
void set_thread_count(int count);

/// set_thread_count() of `threads`; <= 0 means usable_cores(). Some machines start with one thread, so every program
/// calls this once at start.
void set_threads(int threads);

/// A library with threads of its own, which it keeps a count of.
struct ThreadedLibrary {
  void (*begin)();  ///< called in each thread before the count is changed there: LibTorch sets OpenMP's count
                    ///< at its first parallel operator in a thread, and would undo a ThreadScope
  void (*set_count)(int all);  ///< called with what set_thread_count() is given
};

/// Makes its count follow ours from now on, and tells it the count that is set already. There is one such library.
void follow_thread_count(const ThreadedLibrary& library);

/// During its lifetime, parallel work and BLAS begun by the calling thread use this many threads. How sums are split
/// among threads changes their last bits: one thread keeps them the same on every machine. Where a parallel region
/// already runs they are on one thread anyway.
class ThreadScope {
 public:
  /// `threads` >= 1.
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;  ///< threads to go back to; 0: nothing was changed
};

}  // namespace protocom
