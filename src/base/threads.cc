#include "base/threads.h"

#include <omp.h>

#include <atomic>

#include "base/cores.h"

namespace protocom {
namespace {

std::atomic<int> count_of_all{0};  // 0: not set
std::atomic<const ThreadedLibrary*> follower{nullptr};
thread_local bool spins = false;

/// Applies the common count in this thread: OpenMP keeps a count for each thread. A thread takes the common count at
/// its first query, and initialises a library at its first query after that was registered.
void take_count_of_all() {
  thread_local bool taken = false;
  thread_local const ThreadedLibrary* begun = nullptr;
  const ThreadedLibrary* library = follower;
  if ((taken && begun == library) || omp_in_parallel() != 0) return;
  const int before = omp_get_max_threads();
  if (library != nullptr && begun != library) library->begin();
  begun = library;
  if (taken)
    omp_set_num_threads(before);
  else if (const int count = count_of_all; count > 0)
    omp_set_num_threads(count);
  taken = true;
}

}  // namespace

int thread_count() {
  take_count_of_all();
  return omp_get_max_threads();
}

void set_thread_count(int count) {
  count_of_all = count;
  take_count_of_all();
  if (const ThreadedLibrary* library = follower) library->set_count(count);
  omp_set_num_threads(count);
}

void set_threads(int threads) { set_thread_count(threads > 0 ? threads : usable_cores()); }

void follow_thread_count(const ThreadedLibrary& library) {
  static ThreadedLibrary kept;
  kept = library;
  if (const int count = count_of_all; count > 0) {
    const int before = omp_get_max_threads();  // as set by an enclosing ThreadScope
    kept.set_count(count);
    omp_set_num_threads(before);
  }
  follower = &kept;
}

ThreadScope::ThreadScope(int threads)
    : before_(omp_in_parallel() != 0 || thread_count() == threads ? 0 : thread_count()) {
  if (before_ > 0) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (before_ > 0) omp_set_num_threads(before_);
}

SpinScope::SpinScope(bool spinning) : before_(spins) { spins = spinning; }

SpinScope::~SpinScope() { spins = before_; }

bool may_spin() { return spins; }

}  // namespace protocom
