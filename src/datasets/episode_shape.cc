#include "datasets/detail/episode_shape.h"

#include <algorithm>
#include <cmath>

#include "base/enum_words.h"
#include "base/error.h"

namespace protocom {
namespace {

constexpr EnumWord<QueryDistribution> kDistributions[] = {{QueryDistribution::kBalanced, "balanced"},
                                                          {QueryDistribution::kDirichlet, "dirichlet"}};

constexpr int64_t kMost = 1'000'000;  // so that their products do not overflow

}  // namespace

int64_t most_shots(const EpisodeShape& shape) { return std::max(shape.k_shot, shape.most_shots); }

void check_shape(const EpisodeShape& shape) {
  for (const int64_t number : {shape.n_way, shape.k_shot, shape.n_query, shape.most_shots, shape.unlabelled}) {
    if (number > kMost) fail_usage("a number of the episode's shape: expected at most {}, found {}", kMost, number);
  }
  if (shape.n_way < 2) fail_usage("n-way: expected at least 2, found {}", shape.n_way);
  if (shape.k_shot < 0) fail_usage("k-shot: expected at least 0, found {}", shape.k_shot);
  if (shape.n_query < 1) fail_usage("queries per class: expected at least 1, found {}", shape.n_query);
  if (shape.most_shots != 0 && shape.most_shots < shape.k_shot)
    fail_usage("shots of a ragged task: expected the smaller number first, found {} to {}", shape.k_shot,
               shape.most_shots);
  if (shape.unlabelled < 0) fail_usage("unlabelled images per class: expected at least 0, found {}", shape.unlabelled);
  if (shape.query_distribution == QueryDistribution::kDirichlet && !(shape.alpha > 0 && std::isfinite(shape.alpha)))
    fail_usage("alpha (Dirichlet distribution): expected a number above 0, found {}", shape.alpha);
}

std::string_view v0::to_string(QueryDistribution distribution) { return word_of(kDistributions, distribution); }

QueryDistribution parse_query_distribution(std::string_view text) {
  return value_of(kDistributions, text, "distribution of queries");
}

}  // namespace protocom
