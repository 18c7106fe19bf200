#include "fewshot/one_thread.h"

#include <omp.h>

namespace protocom {

OneThread::OneThread() : before_(omp_in_parallel() != 0 || omp_get_max_threads() == 1 ? 0 : omp_get_max_threads()) {
  if (before_ > 0) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ > 0) omp_set_num_threads(before_);
}

}  // namespace protocom
