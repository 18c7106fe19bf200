#pragma once
#include <cstddef>
#include <vector>

#include "fewshot/plda/detail/probabilities.h"

namespace protocom {

/// Draws tasks with one shot and, if the classes have enough images, with five. The same for every candidate, because
/// the draws depend only on seed and images.
std::vector<PldaTasks> setting_tasks(const std::vector<HeldOutClasses>& parts, const std::vector<TaskQueries>& kinds,
                                     const TaskDraws& draws);

/// Draws balanced tasks of the same shots with up to 100 classes at once; none from parts of fewer than 50 classes.
/// Draws a quarter as many tasks, which still have more queries.
std::vector<PldaTasks> many_class_tasks(const std::vector<HeldOutClasses>& parts, const TaskDraws& draws);

/// Returns the accuracy in percent of every task, in order.
DoubleVector accuracies(const std::vector<PldaTasks>& all, const TaskScoring& scores);

/// Returns 1 for each query [q] that logits [q, n] answer correctly, else 0.
DoubleVector is_right(const FloatMatrix& logits, const HeldOutTask& task);

/// Returns the standard error of the mean of paired differences; 0 for one value.
double standard_error(const DoubleVector& values);

/// Chooses among candidates in order, by their figures on the same tasks: the best mean among those whose gain over the
/// first exceeds its standard error, else the first.
size_t choose(const std::vector<DoubleVector>& figures);

}  // namespace protocom
