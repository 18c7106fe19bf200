#include "base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "base/threads.h"

#ifndef _OPENMP
#error "this file must be compiled with OpenMP (see CMakeLists.txt), or everything is on one thread"
#endif

namespace protocom {
namespace {

/// Keeps the first exception of several threads.
class FirstException {
 public:
  void keep() {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::current_exception();
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& work) {
  if (begin >= end) return;
  const int64_t count = end - begin;
  const int64_t pieces = (count + std::max<int64_t>(grain, 1) - 1) / std::max<int64_t>(grain, 1);
  const int64_t threads = omp_in_parallel() != 0 ? 1 : std::min<int64_t>(thread_count(), pieces);
  if (threads == 1) return work(begin, end);
  FirstException first;
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const int64_t each = (count + omp_get_num_threads() - 1) / omp_get_num_threads();
    const int64_t own = begin + omp_get_thread_num() * each;
    try {
      if (own < end) work(own, std::min(own + each, end));
    } catch (...) {
      first.keep();
    }
  }
  first.rethrow();
}

void parallel_each(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  parallel_for(0, std::min<int64_t>(count, thread_count()), 1, [&](int64_t, int64_t) {
    try {
      for (int64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;  // the other threads begin nothing more
      throw;
    }
  });
}

}  // namespace protocom
