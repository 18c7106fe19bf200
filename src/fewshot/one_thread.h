#pragma once
#include <ATen/Parallel.h>

namespace protocom {

/// Keeps LibTorch's and BLAS's operators on the calling thread while it lives: how sums are split among threads changes
/// their last bits. Where a parallel region already runs they are on one thread anyway.
class OneThread {
 public:
  OneThread() : before_(at::in_parallel_region() ? 0 : at::get_num_threads()) {
    if (before_ > 1) at::set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 1) at::set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace protocom
