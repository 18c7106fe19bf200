#pragma once
#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

/// All less the mean of supports and unlabelled images (of the supports where there are no others), then unit length
/// (Zhu and Koniusz, protoLP, 2023).
EpisodePoints centred_together(EpisodePoints points);

}  // namespace protocom
