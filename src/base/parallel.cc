#include "base/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>

#ifndef INTRA_OP_PARALLEL
#error "this file must be compiled with OpenMP (see CMakeLists.txt), or everything is on one thread"
#endif

namespace protocom {

void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& work) {
  at::parallel_for(begin, end, grain, work);
}

void parallel_each(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  parallel_for(0, std::min<int64_t>(count, at::get_num_threads()), 1, [&](int64_t, int64_t) {
    try {
      for (int64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;  // the other threads begin nothing more
      throw;
    }
  });
}

}  // namespace protocom
