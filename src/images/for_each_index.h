#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/progress.h"

namespace protocom::images_detail {

/// Calls work(i) for every i in [0, count) on `threads` threads (0: all usable cores), which begin the indices in
/// ascending order. `progress` is called only by the calling thread. If calls throw, no new ones begin and the
/// exception of the lowest index is rethrown, so that the same fault gives the same message for any timing of threads.
void for_each_index(int64_t count, int threads, std::string_view what, Progress& progress,
                    const std::function<void(int64_t)>& work);

}  // namespace protocom::images_detail
