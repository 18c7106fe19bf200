#include "fewshot/plda/detail/tasks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "fewshot/toolbox/detail/class_semantics.h"

namespace protocom {
namespace {

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
  // One after the other, so that a class that has no image left is passed over.
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
  constexpr uint64_t kStreamsPerPart = 10;  // more than the shots that probabilities are found for
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
  const auto tensor = [](const std::vector<int64_t>& all, at::IntArrayRef sizes) {
    return at::tensor(all, at::kLong).view(sizes);
  };
  const at::Tensor who = tensor(chosen, {shape.tasks, n});
  return {classes.layout,
          shape.k_shot,
          classes.prior.each([&](const at::Tensor& all) { return rows_at(all, who); }),
          classes.variance,
          at::full({shape.tasks, n}, static_cast<double>(shape.k_shot), at::kFloat),
          rows_at(classes.features, tensor(support, {shape.tasks, n, shape.k_shot})).sum(2),
          rows_at(classes.features, tensor(query, {shape.tasks, total})),
          tensor(labels, {shape.tasks, total}),
          who};
}

PldaTasks with_others(PldaTasks tasks, int64_t given) {
  const auto first = [&](const at::Tensor& all) { return all.narrow(1, 0, given); };
  tasks.prior = tasks.prior.each(first);
  tasks.count = first(tasks.count);
  tasks.sum = first(tasks.sum);
  return tasks;
}

}  // namespace protocom
