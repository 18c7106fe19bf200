#pragma once
#include <memory>
#include <vector>

#include "fewshot/plda/detail/evidence.h"
#include "fewshot/plda/detail/tasks.h"
#include "fewshot/plda/knowledge_prior.h"
#include "fewshot/plda/variance_laws.h"

namespace protocom {

/// Descriptions of all classes and what is made of them.
struct KnowledgeInputs {
  const KnowledgeTable& descriptions;
  FitPrior fit;  ///< null: nothing is known
};

/// What a prior is fitted on in a space.
PriorExamples prior_examples(const PldaSpace& space, const UnitMoments& base, const KnowledgeTable& descriptions);

/// Held-out classes, the space of the others, and the predictions of knowledge there.
struct FoldModel {
  const HeldOutPart* part;
  PldaSpace space;
  DoubleMatrix predicted;  ///< [c, e]; empty without knowledge
  /// The part's images as PldaRows of the calibrated space, whatever the laws' floors and factors are; with them the
  /// space is kept without its projection.
  std::shared_ptr<const FloatMatrix> rows = nullptr;
};

/// A space with its laws and what they were taken from.
struct PldaCandidate {
  double shrinkage = 0;
  double floor = 1;     ///< factor of the laws' floors
  double around = 1;    ///< factor of the variance around what knowledge predicts
  double strength = 0;  ///< factor of what knowledge predicts; 0 without knowledge
  VarianceLaws laws = {};
  double explained = 0;
  std::vector<FoldModel> parts = {};  ///< of HeldOutEvidence::for_tasks()

  /// Whether anything is known of its classes.
  [[nodiscard]] bool uses_knowledge() const { return parts.front().predicted.size() > 0; }
};

/// Laws, strength and explained share are the middle of those of base classes left out and those of val classes, of
/// which there must be some.
PldaCandidate measure_candidate(const HeldOutEvidence& evidence, double shrinkage, const KnowledgeInputs& knowledge);

/// The laws' floors times a factor.
PldaCandidate with_floors(PldaCandidate candidate, double factor);

/// The variance around what knowledge predicts times a factor.
PldaCandidate with_variance_around(PldaCandidate candidate, double factor);

PldaCandidate without_knowledge(PldaCandidate candidate);

/// The held-out classes of each part in its own space under the candidate's laws.
std::vector<HeldOutClasses> held_out_classes(const PldaCandidate& candidate);

}  // namespace protocom
