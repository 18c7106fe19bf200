#pragma once
#include <vector>

#include "fewshot/toolbox/row_episode.h"

namespace protocom {

/// centred_apart() of one episode after the other. One a thread.
class CentredRows {
 public:
  /// [m]; valid until the next call.
  const std::vector<const float*>& place(const RowEpisode& episode);

 private:
  void place_apart(const RowEpisode& episode, int64_t begin, int64_t end);

  Floats centre_;  // [dim]
  Floats rows_;    // [m, dim]
  std::vector<const float*> pointers_;
};

}  // namespace protocom
