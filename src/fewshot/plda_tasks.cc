#include "fewshot/plda_tasks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace protocom {
namespace {

constexpr int64_t kWays = 5;
constexpr int64_t kQueriesPerClass = 10;

/// How many of `total` queries each of n classes gets, none more than it has.
std::vector<int64_t> spread(int64_t total, const std::vector<int64_t>& most, TaskQueries queries, Rng& rng) {
  const auto n = static_cast<int64_t>(most.size());
  std::vector<double> share(most.size(), 1.0);
  if (queries == TaskQueries::kDirichletHalf) {
    for (double& value : share) {  // a squared normal is a gamma variable of shape 1/2
      const double z = rng.normal();
      value = z * z + 1e-12;
    }
  }
  std::vector<int64_t> count(most.size(), 0);
  if (queries == TaskQueries::kBalanced) {
    for (int64_t& value : count) value = total / n;
    return count;
  }
  for (int64_t drawn = 0; drawn < total; ++drawn) {
    double sum = 0;
    for (size_t k = 0; k < most.size(); ++k) sum += count[k] < most[k] ? share[k] : 0;
    double place = rng.uniform() * sum;
    size_t chosen = most.size();
    for (size_t k = 0; k < most.size(); ++k) {
      if (count[k] >= most[k]) continue;
      chosen = k;
      place -= share[k];
      if (place < 0) break;
    }
    ++count[chosen];
  }
  return count;
}

}  // namespace

int64_t fewest_images(const HeldOutClasses& classes) {
  size_t fewest = classes.rows.front().size();
  for (const auto& rows : classes.rows) fewest = std::min(fewest, rows.size());
  return static_cast<int64_t>(fewest);
}

PldaTasks draw_tasks(const HeldOutClasses& classes, const PldaTaskShape& shape, Rng& rng) {
  const auto n = std::min<int64_t>(kWays, static_cast<int64_t>(classes.rows.size()));
  const int64_t total = n * std::min(kQueriesPerClass, fewest_images(classes) - shape.k_shot);
  std::vector<int64_t> chosen;
  std::vector<int64_t> support;
  std::vector<int64_t> query;
  std::vector<int64_t> labels;
  for (int64_t task = 0; task < shape.tasks; ++task) {
    const auto picked = rng.sample(static_cast<int64_t>(classes.rows.size()), n);
    std::vector<int64_t> most;
    for (const int64_t c : picked) {
      most.push_back(static_cast<int64_t>(classes.rows[static_cast<size_t>(c)].size()) - shape.k_shot);
    }
    const auto count = spread(total, most, shape.queries, rng);
    for (size_t k = 0; k < picked.size(); ++k) {
      const auto& rows = classes.rows[static_cast<size_t>(picked[k])];
      const auto images = rng.sample(static_cast<int64_t>(rows.size()), shape.k_shot + count[k]);
      for (size_t i = 0; i < images.size(); ++i) {
        const int64_t row = rows[static_cast<size_t>(images[i])];
        (static_cast<int64_t>(i) < shape.k_shot ? support : query).push_back(row);
      }
      labels.insert(labels.end(), static_cast<size_t>(count[k]), static_cast<int64_t>(k));
    }
    chosen.insert(chosen.end(), picked.begin(), picked.end());
  }
  const int64_t e = classes.features.size(1);
  const auto gather = [&](const std::vector<int64_t>& rows) {
    return classes.features.index_select(0, at::tensor(rows, at::kLong));
  };
  const at::Tensor who = at::tensor(chosen, at::kLong);
  return {{classes.prior.mean.index_select(0, who).view({shape.tasks, n, e}), classes.prior.variance},
          at::full({shape.tasks, n}, static_cast<double>(shape.k_shot), at::kFloat),
          gather(support).view({shape.tasks, n, shape.k_shot, e}).sum(2),
          gather(query).view({shape.tasks, total, e}),
          at::tensor(labels, at::kLong).view({shape.tasks, total})};
}

}  // namespace protocom
