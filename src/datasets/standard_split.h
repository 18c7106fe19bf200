#pragma once
#include <string_view>

#include "datasets/split.h"

namespace protocom {

/// Returns a published class split included in protocom, with classes named by WordNet id: "mini-imagenet" (Ravi &
/// Larochelle 2017: 64 base, 16 val, 20 novel) and "tiered-imagenet" (Ren et al. 2018: 351, 97, 160). Throws UsageError
/// for another name.
SplitTable standard_split(std::string_view name);

}  // namespace protocom
