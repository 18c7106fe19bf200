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
  /// A label as for make_method; empty: StoreModel::default_method. An inductive method classifies each image by
  /// itself; with a transductive one, such as "gauss-fusion", the images classified together also help to place the
  /// classes.
  std::string method = {};
  /// Class proportions of the images classified together, for methods that take them as given; unnamed classes share
  /// the remainder equally. Empty: unknown.
  std::map<std::string, double> shares = {};
  /// The classes as the same method placed them before (ClassScorer::placed): they are not placed again, and this array
  /// is not written to, so that it may be mapped. Empty: they are placed.
  PlacedClasses placed = {};
  /// Whether unlabelled images are used, if the method learns from them.
  bool unlabelled = true;
  /// Whether photos of one moment (moments.h) count as one if the method adapts to the enrolled images, and are left
  /// out together.
  bool moments = true;
};

/// Thrown if there is no class, or one has fewer images than the method needs.
class MissingImages : public Error {
 public:
  using Error::Error;
};

/// Classifies features by enrolled classes: one episode, whose queries are the features. Thread-safe except update().
class ClassScorer {
 public:
  /// `model` must outlive the scorer. Throws MissingImages; Error if the model's sizes or attributes do not match the
  /// classes, or the placement does not match the method; UsageError for a method that needs data that was not kept,
  /// and for impossible shares.
  ClassScorer(const EnrolledClasses& enrolled, const StoreModel& model, const ClassScorerOptions& options = {});
  ~ClassScorer();
  ClassScorer(const ClassScorer&) = delete;
  ClassScorer& operator=(const ClassScorer&) = delete;

  /// Updates to the current classes; `before` holds for each its previous index if it is unchanged, else -1
  /// (RecognizerFile::refresh). If the method places each class by itself (PreparedMethod::placer), the cost is that of
  /// the changed classes, else of a new scorer. Throws what the constructor throws; the scorer must not be used after
  /// that.
  void update(const EnrolledClasses& enrolled, const std::vector<int64_t>& before);

  /// [c], in order of enrolment.
  [[nodiscard]] const std::vector<std::string>& class_names() const { return names_; }

  /// Number of unlabelled images that the method uses: the enrolled ones and those it was made with.
  [[nodiscard]] int64_t unlabelled_count() const;

  /// The method, adapted to the enrolled images if it adapts (Method::adapted).
  [[nodiscard]] const Method& method() const { return *method_; }
  /// Whether the answer for one image depends on all enrolled images, not only on the classes' rows.
  [[nodiscard]] bool adapts() const { return adapts_; }

  /// The placed classes if the method places each by itself; else empty.
  [[nodiscard]] const PlacedClasses& placed() const { return placed_; }

  /// Returns the method's scores of features float32 [n, d]. Throws Error for another d.
  [[nodiscard]] QueryScores score(const Array& features) const;

  /// Maps features float32 [n, d] to the space where the method compares single images (ImagePoints::points), [n, e];
  /// nothing if it defines none.
  [[nodiscard]] std::optional<FloatMatrix> points(const Array& features) const;

  /// Returns score() as a formula; nothing if the answer for one image depends on others, as with a transductive
  /// method.
  [[nodiscard]] std::optional<AnswerFormula> formula() const;

  /// Number of images of class k.
  [[nodiscard]] int64_t count(int64_t k) const;
  /// Features of the images of class k, float32 [count, d].
  [[nodiscard]] const Array& images(int64_t k) const;
  /// The moments of the images of each class. Computed at each call if the method does not adapt to the images.
  [[nodiscard]] std::vector<PhotoMoments> moments() const;
  /// Returns the contribution of each attribute of class k to the class's logit for a feature float32 [1, d]: the logit
  /// minus that of the same class without the attribute, in an episode of only these classes. [a], 0 for attributes
  /// that the class does not have. Empty if the method does not place classes by themselves (PreparedMethod::placer).
  [[nodiscard]] std::vector<float> attribute_effects(int64_t k, const Array& feature) const;
  /// Returns the scorer that would result if some images of each class, given by their indices within it, had not been
  /// enrolled. The model must outlive it too.
  [[nodiscard]] std::unique_ptr<ClassScorer> without(const std::vector<std::vector<int64_t>>& left_out) const;
  /// Returns the scorer that would result without unlabelled images. The model must outlive it too.
  [[nodiscard]] std::unique_ptr<ClassScorer> without_unlabelled() const;
  /// Scores images of class k, given by their indices within it, as if they had not been enrolled: logits [images, c].
  [[nodiscard]] QueryScores score_without_images(int64_t k, const std::vector<int64_t>& images) const;
  /// Scores the images of class k as if the class had not been enrolled: logits [count, c - 1].
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
  std::shared_ptr<const Method> unadapted_;  // with the model's own unlabelled images, if any
  std::shared_ptr<const Method> method_;
  bool adapts_ = false;
  EnrolledClasses enrolled_;
  std::vector<std::string> names_;
  std::unique_ptr<const Prepared> prepared_;  // for these classes; if they are placed, for one of them
  SoftSupports unlabelled_;  // for all classes; what the adapted method learned from besides the images
  bool borrowed_ = false;    // placed_ belongs to the caller
  PlacedClasses placed_;     // for a method that places classes; else
  TaskImages images_;        // all images in the method's space
};

}  // namespace protocom
