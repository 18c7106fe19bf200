#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "fewshot/detail/method_definition.h"
#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/detail/with_text.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// A model for a set of classes.
struct PldaPrepared {
  std::shared_ptr<const PldaModel> model;
  std::shared_ptr<const PldaRows> rows;
  PldaRowBelief classes;         ///< [c]; undefined: the model has no knowledge
  PldaRowBelief nothing;         ///< [1], of a class of which nothing is known
  PldaRowVariance variance;      ///< of class means around `classes`, or around `nothing` where these are undefined
  PldaRowPredictive never_seen;  ///< [1], N(0, 1 + b) with b the variance between classes

  /// The prior of each class of each episode, [b, n].
  [[nodiscard]] PldaRowBelief prior_of(const EpisodeBatch& batch) const;
  /// Of the classes of each episode, that have `count` [b, n] images.
  [[nodiscard]] PldaRowMetric metric_of(const at::Tensor& count) const;
  /// The logit [b, q] of a class never seen beside `logits` [b, q, n]: the chance that an image is of one of the
  /// classes is judged of each image by itself, from `predictive` [b, q, n] (row_log_predictive), also where the logits
  /// are not.
  [[nodiscard]] at::Tensor unseen(const EpisodeBatch& batch, const at::Tensor& predictive, const at::Tensor& count,
                                  const at::Tensor& logits) const;
  /// ImagePoints::points: f with each dimension times sqrt(b / (1 + 2 b)), so that products are the part of
  /// log p(x, x' of one class) / p(x) p(x') that depends on both images.
  [[nodiscard]] at::Tensor points(const at::Tensor& features) const;
};

/// [b, 1, 1]: the number for the mean number of images of an episode's classes; `count` [b, n].
at::Tensor by_shots(const ByShots& fitted, const at::Tensor& count);

/// Count [b, n] and sum [b, n, width] of a batch's supports.
std::pair<at::Tensor, at::Tensor> supports_of(const EpisodeBatch& batch);

/// What the Bayesian methods share: the model that fitting finds, on base classes and, where there are any, val
/// classes.
class PldaMethod : public Method {
 public:
  /// Makes the scorer of a prepared model; outlives the method.
  using MakeScorer = std::function<std::unique_ptr<Scorer>(PldaPrepared)>;

  /// `prior`: one of prior_choices(), or kTextPrior.
  explicit PldaMethod(std::string prior, TextWeights text = {});
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const final;
  [[nodiscard]] const FastForm* join(FastForms& forms) const override;
  [[nodiscard]] AdaptedMethod adapted(const at::Tensor& features, const at::Tensor& labels,
                                      int64_t classes) const override;
  [[nodiscard]] std::unique_ptr<Method> as_space() const override;
  void fit(const FitInputs& inputs) override;
  [[nodiscard]] MethodState state() const override;
  void load(const MethodState& state) override;
  [[nodiscard]] std::vector<std::string> findings() const override { return findings_; }
  [[nodiscard]] nlohmann::json details() const override { return details_; }

 protected:
  [[nodiscard]] virtual MakeScorer make_scorer() const = 0;
  /// Whether images are answered together.
  [[nodiscard]] virtual bool answers_batches() const { return false; }
  /// The factor of log predictives, 0: found, of a method that plda/own_span.h and plda/foreign_span.h answer for;
  /// nothing: every episode needs a space.
  [[nodiscard]] virtual std::optional<double> scale_in_span() const { return std::nullopt; }

 private:
  /// The model as images at hand adapt it.
  [[nodiscard]] std::shared_ptr<const PldaModel> adapting_model() const;
  /// Whether what fitting learned of knowledge counts.
  [[nodiscard]] bool uses_fitted_knowledge() const;
  /// The model and what is believed of the context's classes. Throws UsageError for a model with knowledge in a context
  /// without.
  [[nodiscard]] PldaPrepared prepared(const MethodContext& context) const;

  std::string prior_;
  TextWeights text_;
  std::shared_ptr<const PldaModel> model_;  ///< before fitting: without a space
  std::vector<std::string> attributes_;
  std::vector<std::string> findings_;
  nlohmann::json details_;
};

/// What a class's mean is believed to be before its images: as fitted (kernel-ridge while fitting), or nothing, or one
/// of prior_names(), which the model then has to be fitted with.
std::vector<std::string> prior_choices();
inline constexpr const char* kPriorText =
    "of a class's mean: fitted, as the file has it (to fit: kernel-ridge); none, as if nothing were known; the others "
    "say how knowledge is fitted";

/// The citation of all of them.
inline constexpr const char* kPldaCitation =
    "Ioffe: Probabilistic Linear Discriminant Analysis, ECCV 2006; Prince, Elder: Probabilistic Linear Discriminant "
    "Analysis for Inferences About Identity, ICCV 2007; the prior from knowledge is protocom's own";

}  // namespace protocom
