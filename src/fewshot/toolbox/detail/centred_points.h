#pragma once
#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {

/// Supports less their mean, unlabelled images (and queries) less the unlabelled images' mean, then unit length (Hu et
/// al., PT-MAP, 2020). Without unlabelled images: the points as they are.
EpisodePoints centred_apart(EpisodePoints points);

/// All less the mean of supports and unlabelled images (of the supports where there are no others), then unit length
/// (Zhu and Koniusz, protoLP, 2023).
EpisodePoints centred_together(EpisodePoints points);

}  // namespace protocom
