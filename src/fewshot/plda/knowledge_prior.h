#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fewshot/plda/kernel_ridge.h"

namespace protocom {

struct MethodState;

/// Base classes in a whitened space (PldaSpace): what a prior is fitted on.
struct PriorExamples {
  KnowledgeTable descriptions;  ///< of the c classes
  DoubleMatrix means;           ///< their means, [c, e]
  int64_t leading = 0;          ///< in the dimensions after these all means are 0, and so is what is predicted

  /// Those of these classes, [n].
  [[nodiscard]] PriorExamples rows(const std::vector<int64_t>& classes) const;
};

/// Knowledge's prediction of a class mean before its images, m0 of docs/methods/plda.md. Thread-safe.
class KnowledgePrior {
 public:
  virtual ~KnowledgePrior() = default;
  /// As `prior=` takes it.
  [[nodiscard]] virtual std::string name() const = 0;
  /// [n, e]. For a class without a description it is meaningless. Throws Error for descriptions of
  /// other sizes than it was fitted on.
  [[nodiscard]] virtual DoubleMatrix predict(const KnowledgeTable& descriptions) const = 0;
  /// The prior whose predictions are these times `factor`, [e].
  [[nodiscard]] virtual std::shared_ptr<const KnowledgePrior> scaled(const DoubleVector& factor) const = 0;
  /// Adds what load_prior() reads.
  virtual void add_to(MethodState& state) const = 0;
};

/// Fits a prior whose settings are chosen to base classes. Same examples, same prior.
using FitPrior = std::function<std::shared_ptr<const KnowledgePrior>(const PriorExamples& examples)>;

/// How settings of priors are chosen.
struct PriorOptions {
  int64_t groups = 5;  ///< of classes that a prior without a closed form leaves out, one after the other
  uint64_t seed = 1;   ///< of the groups and of trainings
};

/// One setting and its error on base classes that were left out: sum of squares of what was missed over that of the
/// means; 1 is what predicting 0 has.
struct PriorTrial {
  std::string setting;
  double error = 0;
};

/// A prior's settings and what led to them.
struct PriorChoice {
  FitPrior fit;
  std::vector<PriorTrial> trials;  ///< the best, which was chosen, first
  DoubleMatrix left_out;           ///< the prediction for each class by a fit without it, [c, e]
  KernelRidgeOptions ridge = {};   ///< where it is a kernel ridge regression
};

/// kernel-ridge  regression from likeness of descriptions (kernel_ridge.h)
/// sem-align     a network from a description to a class mean
std::vector<std::string> prior_names();

/// Chooses the settings of the prior of that name on base classes. Throws UsageError for another name, and where the
/// descriptions lack what it needs.
PriorChoice choose_prior(const std::string& name, const PriorExamples& examples, const PriorOptions& options = {});

/// The prior that a fitted method's state holds, of e dimensions; null: none. Throws Error for tensors that do not fit
/// one another.
std::shared_ptr<const KnowledgePrior> load_prior(const MethodState& state, const KernelRidgeOptions& ridge,
                                                 int64_t dims);

}  // namespace protocom
