#pragma once

namespace protocom {

/// Keeps LibTorch's and BLAS's operators on the calling thread while it lives: how sums are split among threads changes
/// their last bits. Where a parallel region already runs they are on one thread anyway. Cheap: OpenMP is told, not
/// LibTorch, whose call also makes the threads of another pool anew.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;  ///< threads to go back to; 0: nothing was changed
};

}  // namespace protocom
