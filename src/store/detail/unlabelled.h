#pragma once
#include <cstdint>
#include <vector>

#include "store/detail/change.h"

namespace protocom {

/// Unlabelled images become examples of a class, less those that it holds; returns how many were added.
int64_t place_unlabelled(const Database& database, const Change& change, const std::vector<int64_t>& ids, int64_t to);

/// Removes them. Throws Error when one is not there.
void remove_live_unlabelled(const Database& database, const Change& change, const std::vector<int64_t>& ids);

}  // namespace protocom
