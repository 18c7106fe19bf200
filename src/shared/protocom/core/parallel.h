#pragma once
#include <cstdint>
#include <functional>

namespace protocom {

/// Calls work(b, e) for ranges that make up [begin, end), each at least `grain` long where there are several, on the
/// threads that LibTorch may use; within a parallel region on the calling one. What work throws comes out here.
/// at::parallel_for is a template: in a source that is compiled without OpenMP it would be one thread, without a word.
void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& work);

}  // namespace protocom
