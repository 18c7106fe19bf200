#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/fitted_method.h"
#include "fewshot/method.h"

namespace protocom {

/// Labelled images of all classes of one task, and whatever else a method may use (see MethodContext).
struct TaskInputs {
  Array features;           ///< [m, d] of any float type; may be undefined for methods that need no labelled image
  Array labels;             ///< [m] of any whole type, in [0, classes)
  int64_t classes = 0;      ///< c
  int64_t feature_dim = 0;  ///< d, if the method was fitted or there are no features; 0: that of the features
  std::vector<std::string> class_names = {};  ///< [c]; needed with knowledge
  std::shared_ptr<const KnowledgeTable> knowledge = {};
  std::shared_ptr<const CompletionModel> model = {};
  std::shared_ptr<const KnowledgeTable> described = {};  ///< [c], over the model's attributes, if there is a model
  LabelledFeatures base = {};                            ///< of base classes; may be undefined
  uint64_t seed = 0;                                     ///< for methods that draw
};

/// A task without its labelled images: all that placed classes need for an answer, in another process too.
struct PlacedTask {
  std::string method;       ///< Method::label
  MethodState state;        ///< of the method adapted to the classes; empty: it has none
  PlacedClasses placed;     ///< never empty
  LabelledFeatures base;    ///< of base classes, which the method centres features by; may be undefined
  int64_t classes = 0;      ///< c
  int64_t feature_dim = 0;  ///< d
};

/// Returns the method of a text such as "plda:prior=none", with the file among `fitted` that belongs to it. Throws
/// UsageError for an unknown method.
std::shared_ptr<const Method> make_task_method(const std::string& text, const std::vector<FittedMethod>& fitted);

/// One task, from labelled features to answers, for callers that query the same classes again and again:
///
///     TaskClassifier classifier(make_method("plda"), {features, labels, 5});
///     FloatMatrix logits = classifier.score(queries).logits;
///
/// It owns or shares all it needs, and checks all inputs against each other before it uses them. The method is
/// adapted and its classes are placed once, where possible (Method::adapted, PreparedMethod::placer_of_task).
/// Thread-safe.
class TaskClassifier {
 public:
  /// Throws Error for sizes, types, labels and values that do not fit or are not finite, and for a class without
  /// labelled images if the method needs one; UsageError if the method lacks what it needs.
  TaskClassifier(std::shared_ptr<const Method> method, TaskInputs inputs);
  /// Restores a task from the placed() of another. Throws Error for sizes that do not fit.
  explicit TaskClassifier(PlacedTask task);
  ~TaskClassifier();
  TaskClassifier(const TaskClassifier&) = delete;
  TaskClassifier& operator=(const TaskClassifier&) = delete;

  /// Scores queries [q, d] of any float type, q > 0; the queries of one call may help each other in a transductive
  /// method. `shares` [c]: class shares among them, for methods that take them; undefined: not known. Throws Error for
  /// sizes and values that do not fit.
  [[nodiscard]] QueryScores score(const Array& queries, const Array& shares = {}) const;
  /// Returns the softmax of the logits, [q, c].
  [[nodiscard]] FloatMatrix probabilities(const Array& queries, const Array& shares = {}) const;

  /// Returns the task without its labelled images; nothing if the method needs them to answer, or knowledge or a
  /// completion model.
  [[nodiscard]] std::optional<PlacedTask> placed() const;

  [[nodiscard]] int64_t feature_dim() const { return feature_dim_; }
  [[nodiscard]] int64_t classes() const { return inputs_.classes; }
  /// Returns whether the answer for a query may depend on the other queries (Sees::kAllQueries).
  [[nodiscard]] bool sees_all_queries() const { return method_->spec().sees == Sees::kAllQueries; }

 private:
  [[nodiscard]] MethodContext context() const;

  std::shared_ptr<const Method> method_;
  TaskInputs inputs_;
  int64_t feature_dim_ = 0;
  PreparedMethod prepared_;
  PlacedClasses placed_;
  TaskImages images_;  ///< if the classes are not placed: through the method's space
};

}  // namespace protocom
