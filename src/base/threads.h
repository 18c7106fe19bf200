#pragma once

namespace protocom {

/// Returns how many threads the work begun by the calling thread may use: as set by set_thread_count() or a
/// ThreadScope, else one per core.
int thread_count();

/// Sets it for the calling thread and for all that begin later; `count` >= 1. BLAS uses as many if it is an OpenMP
/// build.
void set_thread_count(int count);

/// Calls set_thread_count() with `threads`; <= 0 means usable_cores(). On some machines the default is one thread, so
/// every program calls this once at start.
void set_threads(int threads);

/// A library with threads of its own and its own thread count.
struct ThreadedLibrary {
  void (*begin)();  ///< called in each thread before the count is changed there: LibTorch sets OpenMP's count at its
                    ///< first parallel operator in a thread, and would undo a ThreadScope
  void (*set_count)(int all);  ///< called with the argument of set_thread_count()
};

/// Makes the library's count follow ours from now on, and passes it the present count. Only one such library is
/// possible.
void follow_thread_count(const ThreadedLibrary& library);

/// During its lifetime, parallel work and BLAS begun by the calling thread use this many threads. How sums are split
/// among threads changes their last bits: with one thread they are the same on every machine. Inside a parallel region
/// they run on one thread anyway.
class ThreadScope {
 public:
  /// `threads` >= 1.
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;  ///< previous number of threads; 0: nothing was changed
};

/// States, during its lifetime, whether only the calling thread's work needs the cores. Then threads of a pool may spin
/// between two parts of that work. Otherwise they sleep: waking them takes as long as an operator of a small network.
class SpinScope {
 public:
  explicit SpinScope(bool spinning);
  ~SpinScope();
  SpinScope(const SpinScope&) = delete;
  SpinScope& operator=(const SpinScope&) = delete;

 private:
  bool before_;
};

/// Whether the calling thread is in a SpinScope of true.
bool may_spin();

}  // namespace protocom
