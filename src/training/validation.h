#pragma once
#include <cstdint>

#include "datasets/episodes.h"

namespace protocom {

/// The episodes that tell which epoch of a training to keep: of the val classes, the same ones after every epoch. Where
/// the val classes cannot give the shape, episodes of fewer ways or queries are drawn; with fewer than two classes that
/// have images enough there is no validation, and the last epoch is kept. Both are logged.
struct ValidationOptions {
  int64_t episodes = 300;  ///< 0: no validation, the last epoch is kept
  EpisodeShape shape;
  int64_t images_per_class =
      100;            ///< where features must be extracted first, only the first ones of each class; 0: all
  int64_t every = 1;  ///< epochs between validations; the last epoch always has one
};

}  // namespace protocom
