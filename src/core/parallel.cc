#include "protocom/core/parallel.h"

#include <ATen/Parallel.h>

#ifndef INTRA_OP_PARALLEL
#error "this file must be compiled with OpenMP (see CMakeLists.txt), or everything is on one thread"
#endif

namespace protocom {

void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& work) {
  at::parallel_for(begin, end, grain, work);
}

}  // namespace protocom
