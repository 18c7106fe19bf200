#pragma once

namespace protocom {

/// Gives LibTorch's and BLAS's operators so many threads where the calling thread calls them, while it lives. How sums
/// are split among threads changes their last bits: one thread keeps them the same on every machine. Where a parallel
/// region already runs they are on one thread anyway. Cheap: OpenMP is told, not LibTorch, whose call also makes the
/// threads of another pool anew.
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
