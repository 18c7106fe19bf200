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
  FloatMatrix rows = {};              ///< [m, padded_length(width)], padded with zeros
  std::vector<int64_t> label = {};    ///< [m], in [0, n), ascending
  std::vector<float> weights = {};    ///< [m], what each counts as, if some count in part; else empty
  std::vector<int64_t> numbers = {};  ///< [n], rows of the KnowledgeTable; empty: not known
  std::vector<float> shares = {};     ///< [n], see Task::shares
  uint64_t seed = 0;                  ///< for methods that draw

  /// Makes the images of features [m, d] with labels in [0, classes), in any order; classes are numbered 0, 1, ...
  static TaskImages of(const FeatureRows& features, const std::vector<int64_t>& labels, int64_t classes);
  /// Returns the images with features mapped by `space`; null: unchanged.
  [[nodiscard]] TaskImages mapped(const FeatureTransform* space) const;
  /// Returns the images of the indices `kept`, ascending, with the same classes.
  [[nodiscard]] TaskImages only(const std::vector<int64_t>& kept) const;
  /// Returns the images without class `k`: n - 1 classes.
  [[nodiscard]] TaskImages without_class(int64_t k) const;
};

/// Images that count in part as supports of each class.
struct SoftSupports {
  FloatMatrix features = {};  ///< [u, d]; empty: none
  FloatMatrix weights = {};   ///< [u, n]

  /// Expands the weights to `classes` classes, of which `there` [n] numbers the present ones; no image counts for the
  /// others.
  [[nodiscard]] SoftSupports among(int64_t classes, const std::vector<int64_t>& there) const;
};

/// Adds to the images the soft supports whose weight for one of their n classes, columns `begin` and up, is above .001.
/// Returns them unchanged if `soft` is empty.
TaskImages with_soft_supports(TaskImages images, const SoftSupports& soft, int64_t begin = 0);

/// A task of raw features mapped by `space` (null: unchanged), in memory of its own.
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

/// Returns the task of labelled images and queries [q, dim], both through the method's space; both must outlive it.
Task task_of(const TaskImages& images, const FloatMatrix& queries);

/// Returns the answers of a run for a task.
QueryScores answer_of(TaskRun& run, const Task& task);

/// Returns a method's scores of features [q, d], given labelled images that have been through its space
/// (TaskImages::mapped). Throws Error if a class has too few images.
QueryScores answer_of(const PreparedMethod& method, const TaskImages& images, const FeatureRows& queries);

}  // namespace protocom
