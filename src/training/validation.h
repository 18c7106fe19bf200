#pragma once
#include <cstdint>

#include "datasets/episodes.h"

namespace protocom {

/// Validation episodes that decide which epoch of a training to keep: of the val classes, the same ones after every
/// epoch. If the val classes cannot provide the shape, episodes of fewer ways or queries are drawn; if fewer than two
/// classes have enough images there is no validation, and the last epoch is kept. Both are logged.
struct ValidationOptions {
  int64_t episodes = 300;  ///< 0: no validation, the last epoch is kept
  EpisodeShape shape;
  int64_t images_per_class =
      100;            ///< where features must be extracted first, only the first ones of each class; 0: all
  int64_t every = 1;  ///< between validations; the last epoch always has one
};

}  // namespace protocom
