#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "fewshot/plda/detail/tasks.h"

namespace protocom {

/// Computes a method's scores [q, n] for one of some tasks.
using TaskScoring = std::function<FloatMatrix(const PldaTasks& of, const HeldOutTask& task)>;

/// Returns log predictives [q, n] of the task's queries, each by itself, under its classes given their images.
FloatMatrix inductive_scores(const PldaTasks& of, const HeldOutTask& task);
/// Returns the scores of `plda-vb` (plda_vb_rows), which answers all queries of a task together.
TaskScoring transductive_scores(const PldaVbOptions& options);

/// Returns the scores of each task.
std::vector<FloatMatrix> scores_of(const PldaTasks& tasks, const TaskScoring& scores);

/// Returns both distributions of queries that settings are chosen with.
const std::vector<TaskQueries>& all_query_kinds();

/// A factor of scores and the log loss of their softmax.
struct ScaleTrial {
  double scale = 1;
  double loss = std::numeric_limits<double>::infinity();  ///< nats, summed over the entries of the tasks
};
/// Returns the scale of least log loss, on a grid of 5 % steps from .02 to 3.
ScaleTrial best_scale(const std::vector<PldaTasks>& all, const TaskScoring& scores);

/// The tasks that set_probabilities() draws.
struct ProbabilityTasks {
  bool described = false;  ///< whether classes without images have descriptions
  TaskDraws draws = {};
};

/// Sets the model's scales by the least log loss on tasks of held-out classes with 0, 1 and 5 labelled images each:
/// with 1 instead of 0 if they have no descriptions, and with half of the smallest class instead of 5 if that is less.
/// P(known) is fitted (fit_known_chance) on tasks in which half of the classes are not given; with fewer than 4 classes
/// it is that of KnownChance(). Does nothing if some class has only one image.
void set_probabilities(const std::vector<HeldOutClasses>& parts, const ProbabilityTasks& options, PldaModel& model);

}  // namespace protocom
