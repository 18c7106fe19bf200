#pragma once
#include <memory>

#include "fewshot/method_definition.h"
#include "protocom/fewshot/plda_model.h"

namespace protocom {

/// What the Bayesian methods share: the model that fitting finds, on base classes and, where there are any, val
/// classes.
class PldaMethod : public Method {
 public:
  void fit(const FitInputs& inputs) override;
  [[nodiscard]] MethodState state() const override;
  void load(const MethodState& state) override;
  [[nodiscard]] std::vector<std::string> findings() const override;

 protected:
  /// The model and what is known of the context's classes. Throws UsageError before fitting, and for a model with
  /// knowledge in a context without.
  struct Prepared {
    std::shared_ptr<const PldaModel> model;
    ClassDescriptions descriptions;  ///< [c], float32
  };
  [[nodiscard]] Prepared prepared(const MethodContext& context) const;

 private:
  std::shared_ptr<const PldaModel> model_;
  std::vector<std::string> attributes_;
  std::vector<std::string> findings_;
};

/// The prior of each class of each episode, [b, n, e].
ClassMeanPrior prior_of(const PldaModel& model, const ClassDescriptions& descriptions, const EpisodeBatch& batch);

/// Count [b, n] and sum [b, n, e] of the supports in the model's space.
SupportStatistics supports_in(const PldaSpace& space, const EpisodeBatch& batch);

/// The citation of all of them.
inline constexpr const char* kPldaCitation =
    "Ioffe: Probabilistic Linear Discriminant Analysis, ECCV 2006; Prince, Elder: Probabilistic Linear Discriminant "
    "Analysis for Inferences About Identity, ICCV 2007; the prior from knowledge is protocom's own";

}  // namespace protocom
