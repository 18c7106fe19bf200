#pragma once
#include <cstdint>
#include <vector>

#include "store/detail/change.h"

namespace protocom {

/// Removes unlabelled images. Throws Error if one does not exist.
void remove_live_unlabelled(const Database& database, const Change& change, const std::vector<int64_t>& ids);

}  // namespace protocom
