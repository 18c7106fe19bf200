#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/matrix.h"
#include "fewshot/answer_formula.h"
#include "fewshot/methods.h"
#include "fewshot/task_images.h"
#include "recognizer/moments.h"
#include "recognizer/store_model.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// Settings of a ClassScorer.
struct ClassScorerOptions {
  /// As make_method takes it; empty: StoreModel::default_method. An inductive method classifies each image by itself;
  /// with a transductive one, such as "gauss-fusion", the images classified together also help to place the classes.
  std::string method = {};
  /// The classes' shares of the images classified together, for methods that take them as given; classes that are not
  /// named have what is left in equal parts. Empty: none are known.
  std::map<std::string, double> shares = {};
  /// The classes as the same method has placed them before (ClassScorer::placed): they are not placed again, and this
  /// is not written to, so that it may be mapped. Empty: they are placed.
  PlacedClasses placed = {};
  /// Whether unlabelled images count, where the method learns from them.
  bool unlabelled = true;
  /// Whether photos of one moment (moments.h) count as one where the method follows the enrolled images, and are left
  /// out together.
  bool moments = true;
};

/// There is no class, or one has fewer images than the method needs.
class MissingImages : public Error {
 public:
  using Error::Error;
};

/// Classifies features by enrolled classes, as one episode in which they are the queries. Thread-safe but for update().
class ClassScorer {
 public:
  /// `model` must outlive it. Throws MissingImages; Error when the model's sizes or attributes are not theirs, or
  /// places are not those of the method; UsageError for a method that needs what was not kept, and for shares that
  /// cannot be.
  ClassScorer(const EnrolledClasses& enrolled, const StoreModel& model, const ClassScorerOptions& options = {});
  ~ClassScorer();
  ClassScorer(const ClassScorer&) = delete;
  ClassScorer& operator=(const ClassScorer&) = delete;

  /// Takes the classes as they are now; `before`: for each its place until now if nothing of it has changed, else -1
  /// (RecognizerFile::refresh). Where the method places classes each by itself (PreparedMethod::placer) this costs as
  /// much as those that changed, else as much as a new scorer. Throws what the constructor throws; then it is of no
  /// more use.
  void update(const EnrolledClasses& enrolled, const std::vector<int64_t>& before);

  /// [c], in the order of their enrolment.
  [[nodiscard]] const std::vector<std::string>& class_names() const { return names_; }

  /// The number of unlabelled images that the method uses: those that are enrolled and those that it was made with.
  [[nodiscard]] int64_t unlabelled_count() const;

  /// As it was adapted to the enrolled images (Method::adapted), where it is.
  [[nodiscard]] const Method& method() const { return *method_; }
  /// Whether the answers about one image depend on all enrolled images, not on the classes' rows alone.
  [[nodiscard]] bool adapts() const { return adapts_; }

  /// Where the method places classes by themselves, what it made of them; else empty.
  [[nodiscard]] const PlacedClasses& placed() const { return placed_; }

  /// The method's scores of features float32 [n, d]. Throws Error for another d.
  [[nodiscard]] QueryScores score(const Array& features) const;

  /// Features float32 [n, d] where the method compares single images (ImagePoints::points), [n, e]; nothing if it
  /// does not say.
  [[nodiscard]] std::optional<FloatMatrix> points(const Array& features) const;

  /// The formula of score(); nothing if the answer for one image depends on others, as with a transductive method.
  [[nodiscard]] std::optional<AnswerFormula> formula() const;

  /// Images of class k.
  [[nodiscard]] int64_t count(int64_t k) const;
  /// Their features, float32 [count, d].
  [[nodiscard]] const Array& images(int64_t k) const;
  /// The moments of the images of each class. Computed at each call where the method does not adapt to the images.
  [[nodiscard]] std::vector<PhotoMoments> moments() const;
  /// What each attribute of class k adds to the class's logit for a feature float32 [1, d]: the logit less that of the
  /// same class without the attribute, in an episode of these alone. [a], 0 for those that the class does not have.
  /// Empty if the method does not place classes by themselves (PreparedMethod::placer).
  [[nodiscard]] std::vector<float> attribute_effects(int64_t k, const Array& feature) const;
  /// The scorer as if some images of each class, by their numbers in it, had not been enrolled. The model must outlive
  /// it too.
  [[nodiscard]] std::unique_ptr<ClassScorer> without(const std::vector<std::vector<int64_t>>& left_out) const;
  /// The scorer as if there were no unlabelled images. The model must outlive it too.
  [[nodiscard]] std::unique_ptr<ClassScorer> without_unlabelled() const;
  /// Scores of images of class k, by their numbers in it, as if they had not been enrolled: logits [images, c].
  [[nodiscard]] QueryScores score_without_images(int64_t k, const std::vector<int64_t>& images) const;
  /// Scores of the images of class k as if the class had not been enrolled: logits [count, c - 1].
  [[nodiscard]] QueryScores score_without_class(int64_t k) const;

 private:
  class Prepared;

  void take_all(const EnrolledClasses& enrolled);
  [[nodiscard]] PlacedClasses place(const EnrolledClasses& enrolled) const;
  void take_placed(const EnrolledClasses& enrolled);
  void replace(const PlacedClasses& placed, const std::vector<int64_t>& before);
  [[nodiscard]] QueryScores score(const TaskImages& images, const Array& features) const;

  const StoreModel& model_;
  ClassScorerOptions options_;
  std::shared_ptr<const Method> unadapted_;  // with what the model has of unlabelled images, if any
  std::shared_ptr<const Method> method_;
  bool adapts_ = false;
  EnrolledClasses enrolled_;
  std::vector<std::string> names_;
  std::unique_ptr<const Prepared> prepared_;  // for these classes; where they are placed, for one of them
  SoftSupports unlabelled_;                   // of all classes; what the adapted method learned from besides
  bool borrowed_ = false;                     // placed_ is the caller's
  PlacedClasses placed_;                      // of a method that places classes; else
  TaskImages images_;                         // all images through the method's space
};

}  // namespace protocom
