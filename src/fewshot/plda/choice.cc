#include "fewshot/plda/detail/choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace protocom {
namespace {

/// Both on the same tasks: how hard a task is drops out of the difference.
bool surely_better(const at::Tensor& now, const at::Tensor& before) {
  const at::Tensor gain = now - before;
  return gain.mean().item<double>() > standard_error(gain);
}

constexpr int64_t kMostClasses = 100;
constexpr int64_t kFewestOfMany = 50;
constexpr int64_t kFewerTasks = 4;

/// The shots that settings are chosen by, of classes with so many images.
std::array<int64_t, 2> shots_of(int64_t fewest) { return {1, std::clamp<int64_t>(fewest / 2, 1, 5)}; }

}  // namespace

std::vector<PldaTasks> many_class_tasks(const std::vector<HeldOutClasses>& parts, const TaskDraws& draws) {
  std::vector<PldaTasks> tasks;
  for (size_t p = 0; p < parts.size(); ++p) {
    const int64_t fewest = fewest_images(parts[p]);
    if (fewest < 2 || static_cast<int64_t>(parts[p].rows.size()) < kFewestOfMany) continue;
    Rng rng = draws.rng(TaskPurpose::kManyClasses, p);
    const int64_t count = std::max<int64_t>(2, draws.each(parts.size()) / kFewerTasks);
    for (const int64_t k_shot : shots_of(fewest))
      tasks.push_back(draw_tasks(parts[p], {count, k_shot, TaskQueries::kBalanced, kMostClasses}, rng));
  }
  return tasks;
}

std::vector<PldaTasks> setting_tasks(const std::vector<HeldOutClasses>& parts, const std::vector<TaskQueries>& kinds,
                                     const TaskDraws& draws) {
  std::vector<PldaTasks> tasks;
  for (size_t p = 0; p < parts.size(); ++p) {
    const int64_t fewest = fewest_images(parts[p]);
    if (fewest < 2) continue;
    Rng rng = draws.rng(TaskPurpose::kSettings, p);
    for (const int64_t k_shot : shots_of(fewest)) {
      for (const TaskQueries kind : kinds) {
        tasks.push_back(draw_tasks(parts[p], {draws.each(parts.size()), k_shot, kind}, rng));
        tasks.back().part = static_cast<int64_t>(p);
      }
    }
  }
  return tasks;
}

at::Tensor accuracies(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<at::Tensor> parts;
  for (const PldaTasks& tasks : all)
    parts.push_back(100 * scores(tasks).argmax(-1).eq(tasks.labels).to(at::kDouble).mean(-1));
  return at::cat(parts);
}

double standard_error(const at::Tensor& values) {
  return values.numel() > 1 ? values.std().item<double>() / std::sqrt(values.numel()) : 0;
}

size_t choose(const std::vector<at::Tensor>& figures) {
  size_t best = 0;
  for (size_t i = 1; i < figures.size(); ++i) {
    const bool higher = figures[i].mean().item<double>() > figures[best].mean().item<double>();
    if (higher && surely_better(figures[i], figures[0])) best = i;
  }
  return best;
}

}  // namespace protocom
