#pragma once
#include <cstddef>
#include <vector>

#include "fewshot/plda/detail/probabilities.h"

namespace protocom {

/// Tasks with one shot and, where the classes have the images, with five. The same for every candidate, because the
/// draws depend on seed and images alone.
std::vector<PldaTasks> setting_tasks(const std::vector<HeldOutClasses>& parts, const std::vector<TaskQueries>& kinds,
                                     const TaskDraws& draws);

/// Balanced tasks of the same shots with up to 100 classes at once; of parts of fewer than 50 classes none. A quarter
/// as many, which are more queries all the same.
std::vector<PldaTasks> many_class_tasks(const std::vector<HeldOutClasses>& parts, const TaskDraws& draws);

/// Accuracy in percent of every task, one after the other.
DoubleVector accuracies(const std::vector<PldaTasks>& all, const TaskScoring& scores);

/// 1 for each query [q] that logits [q, n] answer right, else 0.
DoubleVector is_right(const FloatMatrix& logits, const HeldOutTask& task);

/// The standard error of the mean of values that are paired differences; 0 for one value.
double standard_error(const DoubleVector& values);

/// Chooses among candidates in order, by their figures on the same tasks: the best mean of those whose gain over the
/// first is above its standard error, else the first.
size_t choose(const std::vector<DoubleVector>& figures);

}  // namespace protocom
