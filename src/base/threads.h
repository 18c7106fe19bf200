#pragma once

namespace protocom {

/// Threads that what the calling thread begins may take: what set_thread_count() or a ThreadScope says, else one a
/// core.
int thread_count();

/// Sets it for the calling thread and for all that begin later; `count` >= 1. BLAS takes as many where it asks OpenMP.
void set_thread_count(int count);

/// What a library with threads of its own does in each thread before its count may be changed there; null: nothing.
/// LibTorch sets OpenMP's count at its first parallel operator in a thread, and would undo a ThreadScope.
void set_thread_hook(void (*hook)());

/// Gives parallel work and BLAS so many threads where the calling thread begins it, while it lives. How sums are split
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
