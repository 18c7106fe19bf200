#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/method_definition.h"
#include "fewshot/plda/detail/adapting_run.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/detail/with_text.h"
#include "fewshot/plda/model.h"
#include "fewshot/task.h"

namespace protocom {

/// A model prepared for a set of classes.
struct PldaPrepared {
  std::shared_ptr<const PldaModel> model;
  std::shared_ptr<const PldaRows> rows;
  PldaRowBelief classes;           ///< [c]; empty: the model has no knowledge
  PldaRowBelief uninformed_prior;  ///< [1], for a class without a description
  PldaRowVariance variance;        ///< of class means around `classes`, or `uninformed_prior` if empty
  PldaRowPredictive never_seen;    ///< [1], N(0, 1 + b) with b the variance between classes

  /// Returns the prior of n classes [n], given their rows of the KnowledgeTable; empty: unknown.
  [[nodiscard]] PldaRowBelief prior_of(const std::vector<int64_t>& which, int64_t n) const;
  /// Returns ImagePoints::points of rows [m, width] of images: f with each dimension times sqrt(b / (1 + 2 b)), so that
  /// their products are the part of log p(x, x' of one class) / p(x) p(x') that depends on both images.
  [[nodiscard]] FloatMatrix points(const FloatMatrix& images) const;
};

/// What is known of a task's classes from its labelled images.
struct TaskClasses {
  PldaRowBelief prior;    ///< [n]
  Eigen::VectorXf count;  ///< [n]
  FloatMatrix sum;        ///< [n, width]

  TaskClasses(const PldaPrepared& prepared, const Task& task);
  /// Returns log predictives [q, n] of rows given these images alone.
  [[nodiscard]] FloatMatrix log_predictives(const PldaPrepared& prepared, const std::vector<const float*>& rows) const;
};

/// Returns the query rows of a task, [q].
std::vector<const float*> query_rows(const Task& task);

/// The space where a prepared model compares single images.
class PldaPoints : public ImagePoints {
 public:
  explicit PldaPoints(std::shared_ptr<const PldaPrepared> prepared) : prepared_(std::move(prepared)) {}
  [[nodiscard]] FloatMatrix points(const FeatureRows& features) const override {
    return prepared_->points(prepared_->rows->rows_of(features));
  }

 private:
  std::shared_ptr<const PldaPrepared> prepared_;
};

/// Requested settings of a space that follows the images, instead of those that the images choose (PldaAdaptation).
struct FixedSpace {
  double degrees = 0;
  double class_means = -1;
};

/// Common base of the Bayesian methods: the fitted model, from base classes and, if there are any, val classes.
class PldaMethod : public Method {
 public:
  /// Makes the runs, and the placer if there is one, for a prepared model. It may be called after the method is
  /// destroyed, so it must own what it uses.
  using OfPrepared = std::function<PreparedMethod(const std::shared_ptr<const PldaPrepared>&)>;

  /// `prior`: one of prior_choices(), or kTextPrior.
  explicit PldaMethod(std::string prior, TextWeights text = {}, FixedSpace fixed = {});
  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const final;
  /// The findings of the method returned are the settings that the labelled images chose for its space.
  [[nodiscard]] AdaptedMethod adapted(const FeatureRows& features, const std::vector<int64_t>& labels,
                                      int64_t classes) const override;
  [[nodiscard]] std::unique_ptr<Method> as_space() const override;
  void fit(const FitInputs& inputs) override;
  [[nodiscard]] MethodState state() const override;
  void load(const MethodState& state) override;
  [[nodiscard]] std::vector<std::string> findings() const override { return findings_; }
  [[nodiscard]] nlohmann::json details() const override { return details_; }

 protected:
  /// Returns only the runs and the placer; the rest is common to all (prepared_method).
  [[nodiscard]] virtual OfPrepared of_prepared() const = 0;
  /// Whether images are answered together.
  [[nodiscard]] virtual bool answers_batches() const { return false; }
  /// Makes the runs of a model that adapts to each task.
  [[nodiscard]] virtual MakeTaskRun adapting_runs(std::shared_ptr<const AdaptingModel> model) const = 0;

 private:
  /// Returns the model, to be adapted to the images of each task.
  [[nodiscard]] std::shared_ptr<const PldaModel> adapting_model() const;
  /// Returns the method's answers from labelled images alone, without texts.
  [[nodiscard]] PreparedMethod of_photos(const MethodContext& context) const;
  /// Whether the fitted knowledge is used.
  [[nodiscard]] bool uses_fitted_knowledge() const;
  /// Returns the model with the beliefs about the context's classes. Throws UsageError for a model with knowledge in a
  /// context without.
  [[nodiscard]] std::shared_ptr<const PldaPrepared> prepared(const MethodContext& context) const;

  std::string prior_;
  TextWeights text_;
  FixedSpace fixed_;
  std::shared_ptr<const PldaModel> model_;  ///< before fitting: without a space
  std::vector<std::string> attributes_;
  std::vector<std::string> findings_;
  nlohmann::json details_;
};

/// Returns the choices of prior for a class's mean: as fitted (kernel-ridge while fitting), none, or one of
/// prior_names(), with which the model must then have been fitted.
std::vector<std::string> prior_choices();
inline constexpr const char* kPriorText =
    "prior of class means: fitted, that of the file (when fitting: kernel-ridge); none, without knowledge; "
    "kernel-ridge, sem-align: how knowledge is fitted";

/// The citation of all of these methods.
inline constexpr const char* kPldaCitation =
    "Ioffe: Probabilistic Linear Discriminant Analysis, ECCV 2006; Prince, Elder: Probabilistic Linear Discriminant "
    "Analysis for Inferences About Identity, ICCV 2007; the prior from knowledge is protocom's own";

}  // namespace protocom
