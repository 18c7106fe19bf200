#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/floats.h"

namespace protocom {

/// One task: labelled images of some classes and images to classify, as rows of float32 that are not copied. Rows have
/// gone through the method's FeatureTransform. They come in this order: the supports, class by class; the unlabelled
/// images, which are the queries if the task has no pool; if it has one, then the queries.
struct Task {
  int64_t n = 0;      ///< classes
  int64_t width = 0;  ///< of a feature
  int64_t dim = 0;    ///< of a row: `width` rounded up to a multiple of kRowMultiple, padded with zeros
  int64_t unlabelled = 0;
  int64_t queries = 0;
  std::vector<int64_t> label;      ///< of each support, in [0, n), ascending
  std::vector<const float*> rows;  ///< [m], each [dim]
  Floats squares;                  ///< [m], squared lengths of the rows
  std::vector<int64_t> classes;    ///< [n], rows of the KnowledgeTable; empty: not known
  std::vector<float> weights;      ///< [supports], what each counts as, if some count in part; else empty
  std::vector<float> shares;  ///< [n], class shares of the unlabelled images, for methods that take them; else empty
  uint64_t seed = 0;          ///< for methods that draw

  [[nodiscard]] int64_t supports() const { return static_cast<int64_t>(label.size()); }
  [[nodiscard]] int64_t points() const { return static_cast<int64_t>(rows.size()); }
  /// Supports and unlabelled images, which come first.
  [[nodiscard]] int64_t learned() const { return supports() + unlabelled; }
  [[nodiscard]] int64_t first_query() const { return points() - queries; }
  /// Returns whether the unlabelled images are other images than the queries.
  [[nodiscard]] bool is_pooled() const { return first_query() >= learned(); }
};

/// Run of a method that answers one task after the other, in memory that it keeps. One per thread.
class TaskRun {
 public:
  TaskRun() = default;
  virtual ~TaskRun() = default;
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;
  /// Computes the logits [q, n] of the queries: the largest wins, softmax over n gives the classes' probabilities.
  /// Every class has at least MethodSpec::fewest_shots supports. Throws Error.
  virtual void answer(const Task& task, float* logits) = 0;
  /// Returns the prototypes of the last task answered, [n, dim]; null: the method has none. Valid until the next
  /// answer.
  [[nodiscard]] virtual const float* prototypes() const { return nullptr; }
  /// Returns the logits of a class that was never seen, for the last task answered, [q]; null: the method gives none.
  [[nodiscard]] virtual const float* unseen() const { return nullptr; }
};

/// Answers of a method for some queries.
struct QueryScores {
  FloatMatrix logits;           ///< [q, n]: the largest wins, softmax over n gives the classes' probabilities
  Eigen::VectorXf unseen = {};  ///< [q], logit of a class that was never seen; empty if the method gives none
};

/// Makes a run of a method that is prepared for its classes. Thread-safe.
using MakeTaskRun = std::function<std::unique_ptr<TaskRun>()>;

}  // namespace protocom
