#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/floats.h"

namespace protocom {

/// One task: labelled images of some classes and images to classify, as rows of float32 where they lie. Rows have gone
/// through the method's FeatureTransform. They come in this order: the supports, class by class; the unlabelled images,
/// which are the queries where the task has no pool; after a pool the queries.
struct Task {
  int64_t n = 0;      ///< classes
  int64_t width = 0;  ///< of a feature
  int64_t dim = 0;    ///< of a row: `width` rounded up to a multiple of kRowMultiple, filled up with zeros
  int64_t unlabelled = 0;
  int64_t queries = 0;
  std::vector<int64_t> label;      ///< of each support, in [0, n), ascending
  std::vector<const float*> rows;  ///< [m], each [dim]
  Floats squares;                  ///< [m], squared lengths of the rows
  std::vector<int64_t> classes;    ///< [n], rows of the KnowledgeTable; empty: not known
  std::vector<float> weights;      ///< [supports], what each counts as, where some count in part; else empty
  std::vector<float> shares;       ///< [n], of the classes among the unlabelled, for methods that take them; else empty
  uint64_t seed = 0;               ///< for methods that draw

  [[nodiscard]] int64_t supports() const { return static_cast<int64_t>(label.size()); }
  [[nodiscard]] int64_t points() const { return static_cast<int64_t>(rows.size()); }
  /// Supports and unlabelled images, which come first.
  [[nodiscard]] int64_t learned() const { return supports() + unlabelled; }
  [[nodiscard]] int64_t first_query() const { return points() - queries; }
  /// Whether the unlabelled images are others than the queries.
  [[nodiscard]] bool is_pooled() const { return first_query() >= learned(); }
};

/// A method that is asked about one task after the other, in memory that it keeps. One per thread.
class TaskRun {
 public:
  TaskRun() = default;
  virtual ~TaskRun() = default;
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;
  /// Logits [q, n] of the queries: the largest wins, softmax over n gives the classes' probabilities. Every class has
  /// at least MethodSpec::fewest_shots supports. Throws Error.
  virtual void answer(const Task& task, float* logits) = 0;
  /// The prototypes of the task that was answered last, [n, dim]; null: the method has none. Valid until the next one.
  [[nodiscard]] virtual const float* prototypes() const { return nullptr; }
  /// The logits of a class that was never seen, of the task that was answered last, [q]; null: the method has none.
  [[nodiscard]] virtual const float* unseen() const { return nullptr; }
};

/// A method's answers for some queries.
struct QueryScores {
  FloatMatrix logits;           ///< [q, n]: the largest wins, softmax over n gives the classes' probabilities
  Eigen::VectorXf unseen = {};  ///< [q], the logit of a class that was never seen; empty if none is known
};

/// Makes a run of a method that is prepared for its classes. Thread-safe.
using MakeTaskRun = std::function<std::unique_ptr<TaskRun>()>;

}  // namespace protocom
