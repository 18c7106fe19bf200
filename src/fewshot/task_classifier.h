#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/fitted_method.h"
#include "fewshot/method.h"

namespace protocom {

/// Labelled images of all classes of one task, and what a method may use besides them (see MethodContext).
struct TaskInputs {
  Array features;           ///< [m, d] of any float type; may be undefined for methods that need no labelled image
  Array labels;             ///< [m] of any whole type, in [0, classes)
  int64_t classes = 0;      ///< c
  int64_t feature_dim = 0;  ///< d, if the method was fitted or there are no features; 0: theirs
  std::vector<std::string> class_names = {};  ///< [c]; needed with knowledge
  std::shared_ptr<const KnowledgeTable> knowledge = {};
  std::shared_ptr<const CompletionModel> model = {};
  std::shared_ptr<const KnowledgeTable> described = {};  ///< [c], over the model's attributes, if there is a model
  LabelledFeatures base = {};                            ///< of base classes; may be undefined
  uint64_t seed = 0;                                     ///< for methods that draw
};

/// A task without its labelled images: all that placed classes need to answer, in another process too.
struct PlacedTask {
  std::string method;       ///< Method::label
  MethodState state;        ///< of the method adapted to the classes; empty: it has none
  PlacedClasses placed;     ///< never empty
  LabelledFeatures base;    ///< of base classes, by which the method looks at features; may be undefined
  int64_t classes = 0;      ///< c
  int64_t feature_dim = 0;  ///< d
};

/// The method of a text such as "plda:prior=none", with the fitted file among `fitted` that it takes. Throws UsageError
/// for an unknown one.
std::shared_ptr<const Method> make_task_method(const std::string& text, const std::vector<FittedMethod>& fitted);

/// One task, from labelled features to answers, for callers who ask about the same classes again and again:
///
///     TaskClassifier classifier(make_method("plda"), {features, labels, 5});
///     FloatMatrix logits = classifier.score(queries).logits;
///
/// It owns or shares all it needs, and holds everything given against everything else before it is used. The method is
/// adapted and its classes are placed once, where it can be (Method::adapted, PreparedMethod::placer_of_task).
/// Thread-safe.
class TaskClassifier {
 public:
  /// Throws Error for sizes, types, labels and values that do not fit or are not finite, and for a class without a
  /// labelled image whose method needs one; UsageError where the method lacks what it needs.
  TaskClassifier(std::shared_ptr<const Method> method, TaskInputs inputs);
  /// The task of another one's placed(). Throws Error for sizes that do not fit.
  explicit TaskClassifier(PlacedTask task);
  ~TaskClassifier();
  TaskClassifier(const TaskClassifier&) = delete;
  TaskClassifier& operator=(const TaskClassifier&) = delete;

  /// Of queries [q, d] of any float type, q > 0; those of one call may help one another in a transductive method.
  /// `shares` [c]: of the classes among them, for methods that take them; undefined: not known. Throws Error for
  /// sizes and values that do not fit.
  [[nodiscard]] QueryScores score(const Array& queries, const Array& shares = {}) const;
  /// The softmax of its logits, [q, c].
  [[nodiscard]] FloatMatrix probabilities(const Array& queries, const Array& shares = {}) const;

  /// The task without its labelled images. Nothing if the method needs them to answer, or knowledge or a completion
  /// model.
  [[nodiscard]] std::optional<PlacedTask> placed() const;

  [[nodiscard]] int64_t feature_dim() const { return feature_dim_; }
  [[nodiscard]] int64_t classes() const { return inputs_.classes; }
  /// Whether its answer for a query may depend on the others (Sees::kAllQueries).
  [[nodiscard]] bool sees_all_queries() const { return method_->spec().sees == Sees::kAllQueries; }

 private:
  [[nodiscard]] MethodContext context() const;

  std::shared_ptr<const Method> method_;
  TaskInputs inputs_;
  int64_t feature_dim_ = 0;
  PreparedMethod prepared_;
  PlacedClasses placed_;
  TaskImages images_;  ///< where the classes are not placed: through the method's space
};

}  // namespace protocom
