#include "fewshot/plda/detail/tasks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace protocom {
namespace {

constexpr int64_t kQueriesPerClass = 10;

/// Distributes `total` queries over n classes, at most as many as each has.
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
  // Draws one at a time, so that a class without remaining images is skipped.
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

int64_t TaskDraws::each(size_t parts) const { return std::max<int64_t>(1, tasks / static_cast<int64_t>(parts)); }

Rng TaskDraws::rng(TaskPurpose purpose, size_t part, int64_t k_shot) const {
  constexpr uint64_t kManyClassesStreams = 50;
  constexpr uint64_t kProbabilityStreams = 100;
  constexpr uint64_t kStreamsPerPart = 10;  // more than the number of shots for which probabilities are fitted
  const Rng all(seed);
  switch (purpose) {
    case TaskPurpose::kSettings:
      return all.fork(part + 1);
    case TaskPurpose::kManyClasses:
      return all.fork(kManyClassesStreams + part);
    case TaskPurpose::kProbabilities:
      return all.fork(kProbabilityStreams + kStreamsPerPart * part + static_cast<uint64_t>(k_shot));
  }
  PROTOCOM_CHECK(false);
  return all;
}

int64_t fewest_images(const HeldOutClasses& classes) {
  size_t fewest = classes.rows.front().size();
  for (const auto& rows : classes.rows) fewest = std::min(fewest, rows.size());
  return static_cast<int64_t>(fewest);
}

PldaTasks draw_tasks(const HeldOutClasses& classes, const PldaTaskShape& shape, Rng& rng) {
  const auto n = std::min<int64_t>(shape.ways, static_cast<int64_t>(classes.rows.size()));
  const int64_t total = n * std::min(kQueriesPerClass, fewest_images(classes) - shape.k_shot);
  PldaTasks tasks{classes.layout, shape.k_shot, classes.variance, classes.features, {}};
  const FloatMatrix& features = *classes.features;
  for (int64_t drawn = 0; drawn < shape.tasks; ++drawn) {
    HeldOutTask task;
    task.classes = rng.sample(static_cast<int64_t>(classes.rows.size()), n);
    std::vector<int64_t> most;
    for (const int64_t c : task.classes)
      most.push_back(static_cast<int64_t>(classes.rows[static_cast<size_t>(c)].size()) - shape.k_shot);
    const auto count = spread(total, most, shape.queries, rng);
    task.prior = classes.prior.of(task.classes);
    task.count = Eigen::VectorXf::Constant(n, static_cast<float>(shape.k_shot));
    task.sum = FloatMatrix::Zero(n, features.cols());
    for (int64_t k = 0; k < n; ++k) {
      const auto& rows = classes.rows[static_cast<size_t>(task.classes[static_cast<size_t>(k)])];
      const int64_t asked = count[static_cast<size_t>(k)];
      const auto images = rng.sample(static_cast<int64_t>(rows.size()), shape.k_shot + asked);
      for (int64_t i = 0; i < shape.k_shot + asked; ++i) {
        const auto row = features.row(rows[static_cast<size_t>(images[static_cast<size_t>(i)])]);
        if (i < shape.k_shot) {
          task.sum.row(k) += row;
        } else {
          task.queries.push_back(row.data());
        }
      }
      task.labels.insert(task.labels.end(), static_cast<size_t>(asked), k);
    }
    tasks.tasks.push_back(std::move(task));
  }
  return tasks;
}

PldaTasks with_others(PldaTasks tasks, int64_t given) {
  std::vector<int64_t> first(static_cast<size_t>(given));
  std::iota(first.begin(), first.end(), 0);
  for (HeldOutTask& task : tasks.tasks) {
    task.prior = task.prior.of(first);
    task.count.conservativeResize(given);
    task.sum.conservativeResize(given, Eigen::NoChange);
  }
  return tasks;
}

}  // namespace protocom
