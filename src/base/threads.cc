#include "base/threads.h"

#include <omp.h>

#include <atomic>

namespace protocom {
namespace {

std::atomic<int> count_of_all{0};  // 0: not set
std::atomic<void (*)()> hook_of_threads{nullptr};

/// OpenMP keeps a count for each thread: a thread takes what was set for all when it first asks.
void take_count_of_all() {
  thread_local bool taken = false;
  if (taken || omp_in_parallel() != 0) return;
  taken = true;
  if (void (*hook)() = hook_of_threads) hook();
  if (const int count = count_of_all; count > 0) omp_set_num_threads(count);
}

}  // namespace

int thread_count() {
  take_count_of_all();
  return omp_get_max_threads();
}

void set_thread_count(int count) {
  count_of_all = count;
  take_count_of_all();
  omp_set_num_threads(count);
}

void set_thread_hook(void (*hook)()) { hook_of_threads = hook; }

ThreadScope::ThreadScope(int threads)
    : before_(omp_in_parallel() != 0 || thread_count() == threads ? 0 : thread_count()) {
  if (before_ > 0) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (before_ > 0) omp_set_num_threads(before_);
}

}  // namespace protocom
