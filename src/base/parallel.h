#pragma once
#include <cstdint>
#include <functional>

namespace protocom {

/// Calls work(b, e) for ranges that make up [begin, end), on thread_count() threads, or on fewer if each would get less
/// than `grain`; within a parallel region on the calling thread. Rethrows an exception of `work`.
void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& work);

/// Calls work(i) for each i in [0, count), each on the next free thread: for pieces of unequal duration, or if other
/// programs share the processor. The calling thread takes part; after an exception no other piece begins.
void parallel_each(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace protocom
