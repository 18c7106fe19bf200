#pragma once
#include "fewshot/toolbox/episode_points.h"

namespace protocom {

/// Supports less their mean, unlabelled images (and queries) less the unlabelled images' mean, then unit length (Hu et
/// al., PT-MAP, 2020).
EpisodePoints centred_apart(EpisodePoints points);

/// All less the mean of supports and unlabelled images, then unit length (Zhu and Koniusz, protoLP, 2023).
EpisodePoints centred_together(EpisodePoints points);

}  // namespace protocom
