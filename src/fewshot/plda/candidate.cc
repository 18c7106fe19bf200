#include "fewshot/plda/candidate.h"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>

#include "protocom/core/check.h"

namespace protocom {
namespace {

VarianceLaw middle(const VarianceLaw& a, const VarianceLaw& b) {
  return {std::sqrt(a.scale * b.scale), (a.power + b.power) / 2, std::sqrt(a.floor * b.floor)};
}

PldaCalibration middle(const PldaCalibration& a, const PldaCalibration& b) {
  return {middle(a.between, b.between), middle(a.residual, b.residual), (a.within * b.within).sqrt()};
}

std::vector<SeenPart> see(const std::vector<HeldOutPart>& parts, double shrinkage, const ToldOfClasses& told) {
  std::vector<SeenPart> seen;
  for (const HeldOutPart& part : parts) {
    SeenPart one{&part, part.fitter.space(shrinkage), {}};
    if (told.fit) {
      one.predicted = told.fit(prior_examples(one.space, part.fitter.moments(), told.descriptions))
                          ->predict(told.descriptions.rows(part.held_out.classes));
    }
    seen.push_back(std::move(one));
  }
  return seen;
}

/// Over the classes of all parts.
double strength_over(const std::vector<SeenPart>& parts) {
  std::vector<at::Tensor> predicted;
  std::vector<at::Tensor> means;
  for (const SeenPart& one : parts) {
    if (!one.predicted.defined()) return 0;
    predicted.push_back(one.predicted);
    means.push_back(one.space.transform_means(one.part->held_out.mean));
  }
  return strength_of_knowledge(at::cat(predicted), at::cat(means));
}

at::Tensor strengthened(const SeenPart& part, double strength) {
  return part.predicted.defined() ? strength * part.predicted : at::Tensor();
}

HeldOutVariance variance_of(const std::vector<SeenPart>& parts, double strength) {
  std::vector<HeldOutVariance> variances;
  for (const SeenPart& one : parts)
    variances.push_back(held_out_variance(one.space, one.part->held_out, strengthened(one, strength)));
  return mean_of(variances);
}

}  // namespace

PriorExamples prior_examples(const PldaSpace& space, const UnitMoments& base, const ClassDescriptions& descriptions) {
  return {descriptions.rows(base.classes), space.transform_means(base.mean), space.leading};
}

PldaCandidate measure_candidate(const HeldOutEvidence& evidence, double shrinkage, const ToldOfClasses& told) {
  std::vector<std::vector<SeenPart>> kinds;  // those of the val classes come last, where there are any
  for (const auto* parts : {&evidence.folds, &evidence.val}) {
    if (!parts->empty()) kinds.push_back(see(*parts, shrinkage, told));
  }
  PROTOCOM_CHECK(!kinds.empty());
  const auto many = static_cast<double>(kinds.size());
  PldaCandidate candidate{shrinkage};
  for (const auto& parts : kinds) candidate.strength += strength_over(parts) / many;
  std::optional<PldaCalibration> calibration;
  for (const auto& parts : kinds) {
    const HeldOutVariance mean = variance_of(parts, candidate.strength);
    const PldaCalibration found = calibrate(mean);
    calibration = calibration ? middle(*calibration, found) : found;
    const double missed =
        (mean.residual / found.within).sum().item<double>() / (mean.between / found.within).sum().item<double>();
    candidate.explained += (1 - missed) / many;
  }
  candidate.calibration = *calibration;
  candidate.parts = std::move(kinds.back());
  return candidate;
}

PldaCandidate with_floors(PldaCandidate candidate, double factor) {
  candidate.floor *= factor;
  candidate.calibration.between.floor *= factor;
  candidate.calibration.residual.floor *= factor;
  return candidate;
}

PldaCandidate without_knowledge(PldaCandidate candidate) {
  for (SeenPart& one : candidate.parts) one.predicted = at::Tensor();
  return candidate;
}

std::vector<HeldOutClasses> held_out_classes(const PldaCandidate& candidate) {
  std::vector<HeldOutClasses> result;
  for (const SeenPart& one : candidate.parts) {
    PldaModel model;
    model.space = calibrated(one.space, candidate.calibration);
    model.residual = residual_variance(one.space, candidate.calibration);
    const at::Tensor mean = strengthened(one, candidate.strength);
    const ClassMeanPrior prior = mean.defined()
                                     ? ClassMeanPrior{mean * unit_of(candidate.calibration), model.residual}
                                     : no_knowledge(model.space.between, {static_cast<int64_t>(one.part->rows.size())});
    const PldaRows rows(model);
    const PldaLayout& layout = rows.layout();
    const at::Tensor& between = model.space.between;
    const PldaRowMetric wide = row_metric(in_parts(between, layout), at::zeros({1}), layout);
    result.push_back({layout, rows.map(one.part->features.to(at::kFloat)), one.part->rows, in_parts(prior, layout),
                      in_parts(mean.defined() ? model.residual : between, layout),
                      row_predictive(row_means(in_parts(no_knowledge(between, {1}), layout)), wide)});
  }
  return result;
}

}  // namespace protocom
