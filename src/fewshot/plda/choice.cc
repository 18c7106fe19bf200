#include "fewshot/plda/detail/choice.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace protocom {
namespace {

/// Whether the figures `now` are surely better than `before`. Both are for the same tasks, so that the difficulty of a
/// task cancels.
bool surely_better(const DoubleVector& now, const DoubleVector& before) {
  const DoubleVector gain = now - before;
  return gain.mean() > standard_error(gain);
}

constexpr int64_t kMostClasses = 100;
constexpr int64_t kFewestOfMany = 50;
constexpr int64_t kFewerTasks = 4;

/// Returns the numbers of shots used to choose settings, for classes with at least this many images.
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

DoubleVector accuracies(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<double> found;
  for (const PldaTasks& tasks : all) {
    const std::vector<FloatMatrix> logits = scores_of(tasks, scores);
    for (size_t t = 0; t < logits.size(); ++t) found.push_back(100 * is_right(logits[t], tasks.tasks[t]).mean());
  }
  return Eigen::Map<const DoubleVector>(found.data(), static_cast<int64_t>(found.size()));
}

DoubleVector is_right(const FloatMatrix& logits, const HeldOutTask& task) {
  DoubleVector right(logits.rows());
  for (int64_t i = 0; i < logits.rows(); ++i) {
    Eigen::Index best = 0;
    logits.row(i).maxCoeff(&best);
    right[i] = best == task.labels[static_cast<size_t>(i)] ? 1 : 0;
  }
  return right;
}

double standard_error(const DoubleVector& values) {
  const auto n = static_cast<double>(values.size());
  return n > 1 ? std::sqrt((values.array() - values.mean()).square().sum() / (n - 1) / n) : 0;
}

size_t choose(const std::vector<DoubleVector>& figures) {
  size_t best = 0;
  for (size_t i = 1; i < figures.size(); ++i) {
    const bool higher = figures[i].mean() > figures[best].mean();
    if (higher && surely_better(figures[i], figures[0])) best = i;
  }
  return best;
}

}  // namespace protocom
