#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/plda/knowledge_prior.h"

namespace protocom {

/// A kind of prior: how it is chosen and how it is loaded. One file each, prior_<name>.cc.
struct PriorKind {
  std::string name;
  PriorChoice (*choose)(const PriorExamples& examples, const PriorOptions& options);
  /// Returns null if the state has no prior of this kind.
  std::shared_ptr<const KnowledgePrior> (*load)(const MethodState& state, const KernelRidgeOptions& ridge,
                                                int64_t dims);
};

PriorKind kernel_ridge_prior();
PriorKind sem_align_prior();

/// Returns the choice of a kind with a single setting; its error is measured by leaving classes out in groups.
PriorChoice only_choice(FitPrior fit, const PriorExamples& examples, const PriorOptions& options);

}  // namespace protocom
