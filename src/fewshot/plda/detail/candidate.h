#pragma once
#include <memory>
#include <vector>

#include "fewshot/plda/detail/evidence.h"
#include "fewshot/plda/detail/tasks.h"
#include "fewshot/plda/knowledge_prior.h"
#include "fewshot/plda/variance_laws.h"

namespace protocom {

/// Descriptions of all classes and the prior fitted on them.
struct KnowledgeInputs {
  const KnowledgeTable& descriptions;
  FitPrior fit;  ///< null: nothing is known
};

/// Returns the examples for fitting a prior in a space.
PriorExamples prior_examples(const PldaSpace& space, const UnitMoments& base, const KnowledgeTable& descriptions);

/// Held-out classes, the space of the other classes, and the predictions from knowledge there.
struct FoldModel {
  const HeldOutPart* part;
  PldaSpace space;
  DoubleMatrix predicted;  ///< [c, e]; empty without knowledge
  /// The part's images as PldaRows of the calibrated space, independent of the laws' floors and factors; with them the
  /// space is stored without its projection.
  std::shared_ptr<const FloatMatrix> rows = nullptr;
};

/// A space with its laws and the parts they were measured on.
struct PldaCandidate {
  double shrinkage = 0;
  double floor = 1;     ///< multiplies the laws' floors
  double around = 1;    ///< multiplies the variance around predictions from knowledge
  double strength = 0;  ///< multiplies predictions from knowledge; 0 without knowledge
  VarianceLaws laws = {};
  double explained = 0;
  std::vector<FoldModel> parts = {};  ///< of HeldOutEvidence::for_tasks()

  /// Whether it has knowledge of its classes.
  [[nodiscard]] bool uses_knowledge() const { return parts.front().predicted.size() > 0; }
};

/// Measures a candidate. Laws, strength and explained share are averages of those of left-out base classes and of val
/// classes, at least one of which must exist.
PldaCandidate measure_candidate(const HeldOutEvidence& evidence, double shrinkage, const KnowledgeInputs& knowledge);

/// Returns the candidate with the laws' floors times a factor.
PldaCandidate with_floors(PldaCandidate candidate, double factor);

/// Returns the candidate with the variance around predictions from knowledge times a factor.
PldaCandidate with_variance_around(PldaCandidate candidate, double factor);

PldaCandidate without_knowledge(PldaCandidate candidate);

/// Returns the held-out classes of each part in its own space under the candidate's laws.
std::vector<HeldOutClasses> held_out_classes(const PldaCandidate& candidate);

}  // namespace protocom
