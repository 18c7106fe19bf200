#include "base/thread_scope.h"

#include <ATen/Parallel.h>
#include <omp.h>

namespace protocom {

ThreadScope::ThreadScope(int threads)
    // LibTorch is asked, for its first parallel operator in a thread sets that thread's count, and asking does so now.
    : before_(omp_in_parallel() != 0 || at::get_num_threads() == threads ? 0 : at::get_num_threads()) {
  if (before_ > 0) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (before_ > 0) omp_set_num_threads(before_);
}

}  // namespace protocom
