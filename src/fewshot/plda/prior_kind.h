#pragma once
#include <memory>
#include <string>
#include <vector>

#include "protocom/fewshot/plda/knowledge_prior.h"

namespace protocom {

/// A kind of prior: how it is chosen and how it is read again. One file each, prior_<name>.cc.
struct PriorKind {
  std::string name;
  /// What it needs that the descriptions have not, "word vectors of attributes"; empty: nothing.
  std::string (*lacks)(const ClassDescriptions& descriptions);
  PriorChoice (*choose)(const PriorExamples& examples, const PriorOptions& options);
  /// Null where the state holds no prior of this kind.
  std::shared_ptr<const KnowledgePrior> (*load)(const MethodState& state, const KernelRidgeOptions& ridge,
                                                int64_t dims);
};

PriorKind kernel_ridge_prior();
PriorKind sem_align_prior();
PriorKind proto_com_net_prior();
PriorKind pat_net_prior();
PriorKind combination_prior();

/// Those that a combination is made of.
std::vector<PriorKind> single_priors();

/// The choice of a kind that has one setting: its error is measured by leaving classes out in groups.
PriorChoice only_choice(FitPrior fit, const PriorExamples& examples, const PriorOptions& options);

/// Sum of squares of what was missed over that of the means.
double share_missed(const at::Tensor& predicted, const at::Tensor& means);

/// `leading` [n, l] and zeros up to `dims`, float64 [n, dims].
at::Tensor up_to(const at::Tensor& leading, int64_t dims);

/// For PriorKind::lacks: attributes or word vectors of classes.
std::string lacks_descriptions(const ClassDescriptions& descriptions);
/// Attributes of classes, and word vectors of attributes.
std::string lacks_attribute_words(const ClassDescriptions& descriptions);

}  // namespace protocom
