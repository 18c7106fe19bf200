#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fewshot/plda/kernel_ridge.h"

namespace protocom {

struct MethodState;

/// Base classes in a whitened space (PldaSpace), on which a prior is fitted.
struct PriorExamples {
  KnowledgeTable descriptions;  ///< descriptions of the c classes
  DoubleMatrix means;           ///< their means, [c, e]
  int64_t leading = 0;          ///< in the dimensions after these all means are 0, and so are predictions

  /// Returns the examples of these classes, [n].
  [[nodiscard]] PriorExamples rows(const std::vector<int64_t>& classes) const;
};

/// Predicts a class mean from knowledge, before its images: m0 of docs/methods/plda.md. Thread-safe.
class KnowledgePrior {
 public:
  virtual ~KnowledgePrior() = default;
  /// The name as in `prior=`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns predictions [n, e]. For a class without a description they are meaningless. Throws Error for descriptions
  /// of other sizes than it was fitted on.
  [[nodiscard]] virtual DoubleMatrix predict(const KnowledgeTable& descriptions) const = 0;
  /// Returns the prior with predictions multiplied by `factor`, [e].
  [[nodiscard]] virtual std::shared_ptr<const KnowledgePrior> scaled(const DoubleVector& factor) const = 0;
  /// Adds the tensors that load_prior() reads.
  virtual void add_to(MethodState& state) const = 0;
};

/// Fits a prior with chosen settings to base classes. Deterministic.
using FitPrior = std::function<std::shared_ptr<const KnowledgePrior>(const PriorExamples& examples)>;

/// How settings of priors are chosen.
struct PriorOptions {
  int64_t groups = 5;  ///< groups of classes that a prior without a closed form leaves out in turn
  uint64_t seed = 1;   ///< for the groups and for trainings
};

/// A setting and its error on left-out base classes: sum of squared errors over the sum of squared means; predicting 0
/// has error 1.
struct PriorTrial {
  std::string setting;
  double error = 0;
};

/// A prior's settings and how they were chosen.
struct PriorChoice {
  FitPrior fit;
  std::vector<PriorTrial> trials;  ///< best first; that one was chosen
  DoubleMatrix left_out;           ///< the prediction for each class by a fit without it, [c, e]
  KernelRidgeOptions ridge = {};   ///< if it is a kernel ridge regression
};

/// Returns the names of priors:
/// kernel-ridge  regression from similarity of descriptions (kernel_ridge.h)
/// sem-align     a network from a description to a class mean
std::vector<std::string> prior_names();

/// Chooses the settings of the prior of that name on base classes. Throws UsageError for another name, and if the
/// descriptions lack what it needs.
PriorChoice choose_prior(const std::string& name, const PriorExamples& examples, const PriorOptions& options = {});

/// Returns the prior in a fitted method's state, of e dimensions; null: none. Throws Error for tensors that do not
/// match one another.
std::shared_ptr<const KnowledgePrior> load_prior(const MethodState& state, const KernelRidgeOptions& ridge,
                                                 int64_t dims);

}  // namespace protocom
