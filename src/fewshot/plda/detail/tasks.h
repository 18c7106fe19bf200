#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "fewshot/plda/detail/rows.h"

namespace protocom {

/// Images of held-out classes in a space that was not fitted on them, with the beliefs about those classes.
struct HeldOutClasses {
  PldaLayout layout;
  std::shared_ptr<const FloatMatrix> features;  ///< [m, width]
  std::vector<std::vector<int64_t>> rows;       ///< of each class
  PldaRowBelief prior;                          ///< [c]
  PldaRowVariance variance;                     ///< of class means around `prior`
  PldaRowPredictive undescribed;                ///< [1], for a class without a description
};

/// A task: some images of each class, and others to classify.
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
  std::shared_ptr<const FloatMatrix> features;  ///< the memory that queries point to
  std::vector<HeldOutTask> tasks;
  int64_t part = 0;  ///< the part that the classes are from, if there are several
};

/// How queries are distributed over the classes of a task.
enum class TaskQueries { kBalanced, kDirichletHalf };

/// The number and size of the tasks of draw_tasks().
struct PldaTaskShape {
  int64_t tasks = 60;
  int64_t k_shot = 1;  ///< labelled images of each class
  TaskQueries queries = TaskQueries::kBalanced;
  int64_t ways = 5;  ///< most classes of a task
};

/// The purpose that tasks are drawn for.
enum class TaskPurpose { kSettings, kProbabilities, kManyClasses };

/// The number of tasks drawn, and their random numbers.
struct TaskDraws {
  int64_t tasks = 60;  ///< for each shape, over all parts
  uint64_t seed = 1;

  /// Returns the number for each of this many parts; at least 1.
  [[nodiscard]] int64_t each(size_t parts) const;
  /// Returns a separate stream for every purpose and part, and for probabilities for every number of shots, so that no
  /// draw affects another.
  [[nodiscard]] Rng rng(TaskPurpose purpose, size_t part, int64_t k_shot = 0) const;
};

/// Draws tasks of up to `ways` classes and 10 queries per class; fewer if the classes do not have enough images.
PldaTasks draw_tasks(const HeldOutClasses& classes, const PldaTaskShape& shape, Rng& rng);

/// Keeps the first `given` classes of each task and the queries of all classes: the labels of the others are `given`
/// and above.
PldaTasks with_others(PldaTasks tasks, int64_t given);

/// Returns the number of images of the smallest class.
int64_t fewest_images(const HeldOutClasses& classes);

}  // namespace protocom
