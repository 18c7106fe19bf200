#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "fewshot/plda/detail/rows.h"

namespace protocom {

/// Images of classes that a space was not fitted on, in it, with what is believed of those classes.
struct HeldOutClasses {
  PldaLayout layout;
  std::shared_ptr<const FloatMatrix> features;  ///< [m, width]
  std::vector<std::vector<int64_t>> rows;       ///< of each class
  PldaRowBelief prior;                          ///< [c]
  PldaRowVariance variance;                     ///< of class means around `prior`
  PldaRowPredictive undescribed;                ///< [1], of a class that is not described
};

/// One task: some of the images of each class, and others to answer.
struct HeldOutTask {
  PldaRowBelief prior;                ///< [n]
  Eigen::VectorXf count;              ///< [n]
  FloatMatrix sum;                    ///< [n, width]
  std::vector<const float*> queries;  ///< [q]
  std::vector<int64_t> labels;        ///< [q]
  std::vector<int64_t> classes;       ///< [n], which of the held-out classes
};

/// Tasks of one shape.
struct PldaTasks {
  PldaLayout layout;
  int64_t k_shot = 0;
  PldaRowVariance variance;                     ///< of class means around `prior`
  std::shared_ptr<const FloatMatrix> features;  ///< where queries point to
  std::vector<HeldOutTask> tasks;
  int64_t part = 0;  ///< of which part the classes are, if there are several
};

/// How queries are spread over the classes of a task.
enum class TaskQueries { kBalanced, kDirichletHalf };

/// How many tasks draw_tasks() draws, and of what size.
struct PldaTaskShape {
  int64_t tasks = 60;
  int64_t k_shot = 1;  ///< labelled images of each class
  TaskQueries queries = TaskQueries::kBalanced;
  int64_t ways = 5;  ///< classes of a task, at most
};

/// What tasks are drawn for.
enum class TaskPurpose { kSettings, kProbabilities, kManyClasses };

/// How many tasks are drawn, and by which random numbers.
struct TaskDraws {
  int64_t tasks = 60;  ///< of each shape, over all parts
  uint64_t seed = 1;

  /// Of each of this many parts; at least 1.
  [[nodiscard]] int64_t each(size_t parts) const;
  /// Numbers of their own for every purpose and part, for probabilities every number of shots too, so that what one
  /// draws shifts no other.
  [[nodiscard]] Rng rng(TaskPurpose purpose, size_t part, int64_t k_shot = 0) const;
};

/// Up to `ways` classes and 10 queries per class; fewer where the classes have not enough images.
PldaTasks draw_tasks(const HeldOutClasses& classes, const PldaTaskShape& shape, Rng& rng);

/// Tasks of the first `given` classes of each task with the queries of all: the labels of the others are `given` and
/// above.
PldaTasks with_others(PldaTasks tasks, int64_t given);

/// Images that the smallest class has.
int64_t fewest_images(const HeldOutClasses& classes);

}  // namespace protocom
