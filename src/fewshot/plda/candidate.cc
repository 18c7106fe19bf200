#include "fewshot/plda/detail/candidate.h"

#include <cmath>
#include <optional>

#include "base/check.h"

namespace protocom {
namespace {

/// Returns the mean of two power laws on logarithmic axes.
VarianceLaw middle(const VarianceLaw& a, const VarianceLaw& b) {
  return {std::sqrt(a.scale * b.scale), (a.power + b.power) / 2, std::sqrt(a.floor * b.floor)};
}

VarianceLaws middle(const VarianceLaws& a, const VarianceLaws& b) {
  return {middle(a.between, b.between), middle(a.residual, b.residual), a.within.cwiseProduct(b.within).cwiseSqrt()};
}

std::vector<FoldModel> fit_folds(const std::vector<HeldOutPart>& parts, double shrinkage,
                                 const KnowledgeInputs& knowledge) {
  std::vector<FoldModel> seen;
  for (const HeldOutPart& part : parts) {
    FoldModel seen_part{&part, part.fitter.space(shrinkage), {}};
    if (knowledge.fit) {
      seen_part.predicted =
          knowledge.fit(prior_examples(seen_part.space, part.fitter.moments(), knowledge.descriptions))
              ->predict(knowledge.descriptions.rows(part.held_out.classes));
    }
    seen.push_back(std::move(seen_part));
  }
  return seen;
}

/// Returns the strength over the classes of all parts.
double strength_over(const std::vector<FoldModel>& parts) {
  int64_t classes = 0;
  for (const FoldModel& part : parts) classes += part.predicted.rows();
  if (classes == 0) return 0;
  DoubleMatrix predicted(classes, parts.front().predicted.cols()), means = predicted;
  int64_t from = 0;
  for (const FoldModel& part : parts) {
    const int64_t own = part.predicted.rows();
    predicted.middleRows(from, own) = part.predicted;
    means.middleRows(from, own) = part.space.transform_means(part.part->held_out.mean);
    from += own;
  }
  return strength_of_knowledge(predicted, means);
}

HeldOutVariance variance_of(const std::vector<FoldModel>& parts, double strength) {
  std::vector<HeldOutVariance> variances;
  for (const FoldModel& seen_part : parts)
    variances.push_back(held_out_variance(seen_part.space, seen_part.part->held_out, strength * seen_part.predicted));
  return mean_of(variances);
}

/// Returns a model in the calibrated unit, without its projection.
PldaModel variances_of(const FoldModel& part, const VarianceLaws& laws) {
  PldaModel model;
  model.space.leading = part.space.leading;
  model.space.between = between_variance(part.space, laws);
  model.residual = residual_variance(part.space, laws);
  return model;
}

}  // namespace

PriorExamples prior_examples(const PldaSpace& space, const UnitMoments& base, const KnowledgeTable& descriptions) {
  return {descriptions.rows(base.classes), space.transform_means(base.mean), space.leading};
}

PldaCandidate measure_candidate(const HeldOutEvidence& evidence, double shrinkage, const KnowledgeInputs& knowledge) {
  std::vector<std::vector<FoldModel>> kinds;  // that of the val classes, if any, comes last
  for (const auto* parts : {&evidence.folds, &evidence.val}) {
    if (!parts->empty()) kinds.push_back(fit_folds(*parts, shrinkage, knowledge));
  }
  PROTOCOM_CHECK(!kinds.empty());
  const auto many = static_cast<double>(kinds.size());
  PldaCandidate candidate{shrinkage};
  // First, because the remaining variance around predictions depends on the strength with which they are followed.
  for (const auto& parts : kinds) candidate.strength += strength_over(parts) / many;
  std::optional<VarianceLaws> laws;
  for (const auto& parts : kinds) {
    const HeldOutVariance mean = variance_of(parts, candidate.strength);
    const VarianceLaws found = fit_variance_laws(mean);
    laws = laws ? middle(*laws, found) : found;
    const double missed =
        mean.residual.cwiseQuotient(found.within).sum() / mean.between.cwiseQuotient(found.within).sum();
    candidate.explained += (1 - missed) / many;
  }
  candidate.laws = *laws;
  // Val classes, if any, decide the settings: left-out base classes are from the same collection as the fit.
  candidate.parts = std::move(kinds.back());
  for (FoldModel& part : candidate.parts) {
    PldaModel model = variances_of(part, candidate.laws);
    model.space = rescaled(part.space, candidate.laws);
    part.rows = std::make_shared<const FloatMatrix>(PldaRows(model).rows_of(part.part->features));
    part.space.projection.resize(0, 0);  // candidates are copied
  }
  return candidate;
}

PldaCandidate with_floors(PldaCandidate candidate, double factor) {
  candidate.floor *= factor;
  candidate.laws.between.floor *= factor;
  candidate.laws.residual.floor *= factor;
  return candidate;
}

PldaCandidate with_variance_around(PldaCandidate candidate, double factor) {
  candidate.around *= factor;
  candidate.laws.residual.scale *= factor;
  candidate.laws.residual.floor *= factor;
  return candidate;
}

PldaCandidate without_knowledge(PldaCandidate candidate) {
  for (FoldModel& part : candidate.parts) part.predicted = {};
  return candidate;
}

std::vector<HeldOutClasses> held_out_classes(const PldaCandidate& candidate) {
  std::vector<HeldOutClasses> result;
  for (const FoldModel& part : candidate.parts) {
    const PldaModel model = variances_of(part, candidate.laws);
    const PldaLayout layout = plda_layout(model);
    const DoubleVector& between = model.space.between;
    const bool known = part.predicted.size() > 0;
    const DoubleVector factor = candidate.strength * unit_of(candidate.laws);
    const ClassMeanPrior prior = known
                                     ? ClassMeanPrior{part.predicted * factor.asDiagonal(), model.residual.transpose()}
                                     : no_knowledge(between, static_cast<int64_t>(part.part->rows.size()));
    result.push_back({layout, part.rows, part.part->rows, in_parts(prior, layout),
                      in_parts(known ? model.residual : between, layout),
                      class_never_seen(in_parts(no_knowledge(between, 1), layout), in_parts(between, layout), layout)});
  }
  return result;
}

}  // namespace protocom
