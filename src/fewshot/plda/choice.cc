#include "fewshot/plda/choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace protocom {
namespace {

/// Both on the same tasks: how hard a task is drops out of the difference.
bool surely_better(const at::Tensor& now, const at::Tensor& before) {
  const at::Tensor gain = now - before;
  return gain.mean().item<double>() > standard_error(gain);
}

}  // namespace

std::vector<PldaTasks> setting_tasks(const std::vector<HeldOutClasses>& parts, const std::vector<TaskQueries>& kinds,
                                     const TaskDraws& draws) {
  std::vector<PldaTasks> tasks;
  for (size_t p = 0; p < parts.size(); ++p) {
    const int64_t fewest = fewest_images(parts[p]);
    if (fewest < 2) continue;
    Rng rng = draws.rng(TaskPurpose::kSettings, p);
    for (const int64_t k_shot : {int64_t{1}, std::clamp<int64_t>(fewest / 2, 1, 5)}) {
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
