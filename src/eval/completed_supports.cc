#include "completed_supports.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace protocom {
namespace {

bool one_shot(const EpisodeList& list) {
  return std::all_of(list.episodes.begin(), list.episodes.end(), [](const Episode& episode) {
    return std::all_of(episode.support.begin(), episode.support.end(),
                       [](const auto& rows) { return rows.size() == 1; });
  });
}

/// The mean of some rows, added in their order.
void mean_of(const at::Tensor& features, const std::vector<int64_t>& rows, float* mean) {
  const int64_t dim = features.size(1);
  const float* values = features.data_ptr<float>();
  std::fill_n(mean, dim, 0.0F);
  for (const int64_t row : rows) {
    for (int64_t d = 0; d < dim; ++d) mean[d] += values[row * dim + d];
  }
  for (int64_t d = 0; d < dim; ++d) mean[d] /= static_cast<float>(rows.size());
}

}  // namespace

CompletedSupports::CompletedSupports(const FeatureSet& features, const FeatureRows& rows, const Completer& completer,
                                     const EpisodeList& list)
    : features_(features), rows_(rows), completer_(completer), list_(list) {
  if (one_shot(list)) complete_each_row_once();
}

at::Tensor CompletedSupports::complete(const at::Tensor& prototypes, const std::vector<int64_t>& classes) const {
  const at::Tensor completed = completer_.complete(prototypes, at::tensor(classes, at::kLong));
  return at::constant_pad_nd(completed, {0, rows_.dim() - completed.size(1)}).contiguous();
}

void CompletedSupports::complete_each_row_once() {
  place_of_row_.assign(static_cast<size_t>(features_.size()), -1);
  std::vector<int64_t> rows;
  std::vector<int64_t> classes;
  for (const Episode& episode : list_.episodes) {
    for (size_t i = 0; i < episode.classes.size(); ++i) {
      int64_t& place = place_of_row_[static_cast<size_t>(episode.support[i][0])];
      if (place >= 0) continue;
      place = static_cast<int64_t>(rows.size());
      rows.push_back(episode.support[i][0]);
      classes.push_back(episode.classes[i]);
    }
  }
  completed_ = complete(features_.features.index_select(0, at::tensor(rows, at::kLong)), classes);
}

void CompletedSupports::prepare(size_t begin, size_t end) {
  if (!place_of_row_.empty()) return;
  first_ = begin;
  place_of_episode_.clear();
  std::vector<int64_t> classes;
  for (size_t e = begin; e < end; ++e) {
    place_of_episode_.push_back(static_cast<int64_t>(classes.size()));
    classes.insert(classes.end(), list_.episodes[e].classes.begin(), list_.episodes[e].classes.end());
  }
  const at::Tensor features = features_.features.contiguous();
  const at::Tensor means = at::empty({static_cast<int64_t>(classes.size()), features.size(1)});
  constexpr int64_t kGrain = 16;
  at::parallel_for(0, static_cast<int64_t>(end - begin), kGrain, [&](int64_t from, int64_t to) {
    for (int64_t e = from; e < to; ++e) {
      const auto& support = list_.episodes[begin + static_cast<size_t>(e)].support;
      float* mean = means.data_ptr<float>() + place_of_episode_[static_cast<size_t>(e)] * features.size(1);
      for (size_t i = 0; i < support.size(); ++i, mean += features.size(1)) mean_of(features, support[i], mean);
    }
  });
  completed_ = complete(means, classes);
}

const float* CompletedSupports::of(size_t episode, size_t i) const {
  const int64_t place = place_of_row_.empty()
                            ? place_of_episode_[episode - first_] + static_cast<int64_t>(i)
                            : place_of_row_[static_cast<size_t>(list_.episodes[episode].support[i][0])];
  return completed_.data_ptr<float>() + place * rows_.dim();
}

}  // namespace protocom
