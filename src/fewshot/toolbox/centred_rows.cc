#include "fewshot/toolbox/centred_rows.h"

#include "fewshot/toolbox/row_kernels.h"

namespace protocom {

const std::vector<const float*>& CentredRows::place(const RowEpisode& episode) {
  if (episode.unlabelled == 0) return episode.rows;
  const int64_t supports = episode.supports();
  grow(rows_, episode.points() * episode.dim);
  pointers_.clear();
  place_mean(episode, 0, supports, centre_);
  place_apart(episode, 0, supports);
  place_mean(episode, supports, episode.learned(), centre_);
  place_apart(episode, supports, episode.points());
  return pointers_;
}

void CentredRows::place_apart(const RowEpisode& episode, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float* own = rows_.data() + i * episode.dim;
    unit_row(episode.rows[static_cast<size_t>(i)], centre_.data(), episode.dim, own);
    pointers_.push_back(own);
  }
}

}  // namespace protocom
