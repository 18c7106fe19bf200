#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fewshot/feature_transform.h"
#include "fewshot/prepared_method.h"
#include "fewshot/task.h"

namespace protocom {

/// The labelled images of one task, in memory of their own.
struct TaskImages {
  int64_t classes = 0;                ///< n
  int64_t width = 0;                  ///< numbers of a feature
  FloatMatrix rows = {};              ///< [m, padded_length(width)], filled up with zeros
  std::vector<int64_t> label = {};    ///< [m], in [0, n), ascending
  std::vector<float> weights = {};    ///< [m], what each counts as, where some count in part; else empty
  std::vector<int64_t> numbers = {};  ///< [n], rows of the KnowledgeTable; empty: not known
  std::vector<float> shares = {};     ///< [n], see Task::shares
  uint64_t seed = 0;                  ///< for methods that draw

  /// Of features [m, d] of these labels in [0, classes), in any order; classes are numbered 0, 1, ...
  static TaskImages of(const FeatureRows& features, const std::vector<int64_t>& labels, int64_t classes);
  /// The same after `space`; null: as they are.
  [[nodiscard]] TaskImages mapped(const FeatureTransform* space) const;
  /// Those in `kept`, ascending, of the same classes.
  [[nodiscard]] TaskImages only(const std::vector<int64_t>& kept) const;
  /// Without class `k`: n - 1 classes.
  [[nodiscard]] TaskImages without_class(int64_t k) const;
};

/// Images that count in part as supports of each class.
struct SoftSupports {
  FloatMatrix features = {};  ///< [u, d]; empty: none
  FloatMatrix weights = {};   ///< [u, n]

  /// Of `classes` classes, of which these are those numbered `there` [n]; no image counts for the others.
  [[nodiscard]] SoftSupports among(int64_t classes, const std::vector<int64_t>& there) const;
};

/// Images whose n classes are those of `soft` from `begin` on, with the images that count for one of them (from .001
/// on). As they are where `soft` has none.
TaskImages with_soft_supports(TaskImages images, const SoftSupports& soft, int64_t begin = 0);

/// A task of features as they are, after `space` (null: as they are), in memory of its own.
class MappedTask {
 public:
  MappedTask(const Task& task, const FeatureTransform* space);
  ~MappedTask() = default;
  MappedTask(const MappedTask&) = delete;
  MappedTask& operator=(const MappedTask&) = delete;
  [[nodiscard]] const Task& task() const { return task_; }

 private:
  FloatMatrix rows_;
  Task task_;
};

/// The task of labelled images and queries [q, dim], both through the method's space; both must outlive it.
Task task_of(const TaskImages& images, const FloatMatrix& queries);

/// The answers of a run about a task.
QueryScores answer_of(TaskRun& run, const Task& task);

/// A method's scores of features [q, d] with labelled images that have been through its space (TaskImages::mapped).
/// Throws Error if a class has too few images.
QueryScores answer_of(const PreparedMethod& method, const TaskImages& images, const FeatureRows& queries);

}  // namespace protocom
