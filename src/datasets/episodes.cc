#include "datasets/episodes.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/to_whole.h"
#include "datasets/detail/episode_shape.h"

namespace protocom {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

/// Draws proportions of Dirichlet(alpha, ..., alpha).
std::vector<double> draw_proportions(int64_t classes, double alpha, Rng& rng) {
  std::vector<double> parts(static_cast<size_t>(classes));
  double sum = 0;
  for (double& part : parts) sum += part = rng.gamma(alpha);
  // A tiny alpha can underflow to zeros: all weight then goes to one class, which is its limit.
  if (!(sum > 0)) parts[static_cast<size_t>(rng.below(classes))] = sum = 1;
  for (double& part : parts) part /= sum;
  return parts;
}

/// Draws episodes of one shape. One object per thread.
class EpisodeSampler {
 public:
  EpisodeSampler(const std::vector<int64_t>& classes, const Groups& rows_by_class, const EpisodeShape& shape)
      : classes_(classes), rows_by_class_(rows_by_class), shape_(shape) {
    size_t most = classes.size();
    for (const auto& rows : rows_by_class) most = std::max(most, rows.size());
    place_.resize(most);
    std::iota(place_.begin(), place_.end(), 0);
  }

  Episode draw(Rng rng) {
    Episode episode;
    const auto n = static_cast<size_t>(shape_.n_way);
    episode.classes.reserve(n);
    episode.support.reserve(n);
    episode.query.reserve(n);
    sample(static_cast<int64_t>(classes_.size()), shape_.n_way, rng);
    for (const int64_t pick : drawn_) episode.classes.push_back(classes_[static_cast<size_t>(pick)]);
    draw_shots(rng.fork(kShots));
    draw_queries(episode, rng.fork(kQueries));
    for (size_t i = 0; i < episode.classes.size(); ++i) draw_images(episode, i, rng);
    return episode;
  }

 private:
  // Separate streams, so that none of these affects which classes and images are drawn first.
  static constexpr uint64_t kShots = 1;
  static constexpr uint64_t kQueries = 2;
  static constexpr uint64_t kFirstPool = 3;

  /// Draws the values of Rng::sample without allocating.
  void sample(int64_t bound, int64_t count, Rng& rng) {
    for (const size_t place : moved_) place_[place] = static_cast<int64_t>(place);
    drawn_.clear();
    moved_.clear();
    sample_more(bound, count, rng);
  }

  /// Draws as many more, from those not yet drawn.
  void sample_more(int64_t bound, int64_t count, Rng& rng) {
    for (auto i = static_cast<int64_t>(drawn_.size()); count-- > 0; ++i) {
      const auto place = static_cast<size_t>(i + rng.below(bound - i));
      drawn_.push_back(place_[place]);
      place_[place] = place_[static_cast<size_t>(i)];
      moved_.push_back(place);
    }
  }

  void draw_shots(Rng rng) {
    shots_.assign(static_cast<size_t>(shape_.n_way), shape_.k_shot);
    if (!shape_.ragged()) return;
    for (int64_t& shots : shots_) shots += rng.below(shape_.most_shots - shape_.k_shot + 1);
  }

  /// Draws the numbers of queries per class: shares of all queries, rounded so that the largest remainders get one
  /// more; queries that exceed a class's images go to the class furthest below its share.
  void draw_queries(const Episode& episode, Rng rng) {
    queries_.assign(static_cast<size_t>(shape_.n_way), shape_.n_query);
    if (shape_.query_distribution == QueryDistribution::kBalanced) return;
    const int64_t total = shape_.n_way * shape_.n_query;
    const auto shares = draw_proportions(shape_.n_way, shape_.alpha, rng);
    int64_t given = 0;
    std::vector<int64_t> room;
    for (size_t i = 0; i < queries_.size(); ++i) {
      const auto images = static_cast<int64_t>(rows_by_class_[static_cast<size_t>(episode.classes[i])].size());
      room.push_back(images - shots_[i] - shape_.unlabelled);
      queries_[i] = std::min(to_whole<int64_t>(shares[i] * static_cast<double>(total)), room[i]);
      given += queries_[i];
    }
    for (; given < total; ++given) {
      size_t neediest = queries_.size();
      double most = 0;
      for (size_t i = 0; i < queries_.size(); ++i) {
        const double missing = shares[i] * static_cast<double>(total) - static_cast<double>(queries_[i]);
        if (queries_[i] == room[i] || (neediest < queries_.size() && missing <= most)) continue;
        neediest = i;
        most = missing;
      }
      ++queries_[neediest];
    }
  }

  void draw_images(Episode& episode, size_t i, Rng& rng) {
    const auto& rows = rows_by_class_[static_cast<size_t>(episode.classes[i])];
    const auto images = static_cast<int64_t>(rows.size());
    sample(images, shots_[i] + queries_[i], rng);
    Rng of_pool = rng.fork(kFirstPool + i);
    sample_more(images, shape_.unlabelled, of_pool);
    for (int64_t& pick : drawn_) pick = rows[static_cast<size_t>(pick)];
    const auto query = drawn_.begin() + shots_[i];
    const auto pool = query + queries_[i];
    episode.support.emplace_back(drawn_.begin(), query);
    episode.query.emplace_back(query, pool);
    if (shape_.unlabelled > 0) episode.pool.emplace_back(pool, drawn_.end());
  }

  const std::vector<int64_t>& classes_;
  const Groups& rows_by_class_;
  EpisodeShape shape_;
  std::vector<int64_t> place_;  // 0, 1, 2, ... except for moved_
  std::vector<int64_t> drawn_;
  std::vector<size_t> moved_;
  std::vector<int64_t> shots_;
  std::vector<int64_t> queries_;
};

std::string describe_need(const EpisodeShape& shape) {
  const std::string shots =
      shape.ragged() ? fmt::format("up to {} shots", shape.most_shots) : fmt::format("{} shots", shape.k_shot);
  if (shape.unlabelled == 0) return fmt::format("{} and {} queries", shots, shape.n_query);
  return fmt::format("{}, {} queries and {} unlabelled images", shots, shape.n_query, shape.unlabelled);
}

void check_sizes(const FeatureSet& features, const std::vector<int64_t>& classes, const Groups& rows,
                 const EpisodeShape& shape) {
  // Unbalanced queries need enough images only on average, but a class with fewer could not hold its share of a
  // balanced draw.
  const int64_t need = most_shots(shape) + shape.n_query + shape.unlabelled;
  for (const int64_t label : classes) {
    const auto images = static_cast<int64_t>(rows[static_cast<size_t>(label)].size());
    if (images < need) {
      fail("class '{}' has {} images, {} need {}: lower --n-query or --k-shot",
           features.class_names[static_cast<size_t>(label)], images, describe_need(shape), need);
    }
  }
}

/// Limit for all episodes together: some 3 million tasks of 5 classes with 1 shot and 15 queries.
constexpr int64_t kMostImagesOfAll = int64_t{1} << 28;

void check_count(const EpisodeOptions& options) {
  const EpisodeShape& shape = options.shape;
  if (options.count < 1) fail_usage("episodes: expected at least 1, found {}", options.count);
  const int64_t images = shape.n_way * (most_shots(shape) + shape.n_query + shape.unlabelled);
  const int64_t most = std::max<int64_t>(1, kMostImagesOfAll / images);
  if (options.count > most)
    fail_usage("episodes: expected at most {} of {} images each, found {}", most, images, options.count);
}

}  // namespace

EpisodeList sample_episodes(const FeatureSet& features, const EpisodeOptions& options) {
  const EpisodeShape& shape = options.shape;
  check_shape(shape);
  check_count(options);
  const auto classes = features.classes_of(options.split);
  if (static_cast<int64_t>(classes.size()) < shape.n_way) {
    fail("the split '{}' has {} classes, {}-way episodes need {}", to_string(options.split), classes.size(),
         shape.n_way, shape.n_way);
  }
  const auto rows = features.rows_by_class();
  check_sizes(features, classes, rows, shape);
  EpisodeList list{shape, options.split, options.seed, {}};
  list.episodes.resize(static_cast<size_t>(options.count));
  const Rng rng(options.seed);
  constexpr int64_t kGrain = 256;
  parallel_for(0, options.count, kGrain, [&](int64_t begin, int64_t end) {
    EpisodeSampler sampler(classes, rows, shape);
    for (int64_t i = begin; i < end; ++i)
      list.episodes[static_cast<size_t>(i)] = sampler.draw(rng.fork(static_cast<uint64_t>(i)));
  });
  return list;
}

}  // namespace protocom
