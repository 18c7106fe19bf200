#include "training/completion_gain.h"

#include <fmt/format.h>

#include <cmath>

#include "eval/statistics.h"

namespace protocom {
namespace {

constexpr const char* kUsual = "mean-fusion";

/// Returns the gain of a method over another on the same episodes, points.
Estimate gain(const MethodScores& method, const MethodScores& over) {
  return paired_difference(method.accuracy, over.accuracy);
}

std::string say(const Estimate& gain) {
  if (std::abs(gain.value) <= gain.ci95) return "adds nothing measurable to";
  return fmt::format("{} {:.1f} ± {:.1f} points {}", gain.value > 0 ? "adds" : "costs", std::abs(gain.value), gain.ci95,
                     gain.value > 0 ? "to" : "of");
}

}  // namespace

std::string best_inductive_row(const std::vector<MethodScores>& validation) {
  const MethodScores* usual = find_scores(validation, kUsual);
  const MethodScores* best = usual;
  for (const char* row : {"mean", "completed"}) {
    const MethodScores* other = find_scores(validation, row);
    if (usual == nullptr || other == nullptr) continue;
    const Estimate over_usual = gain(*other, *usual);
    if (over_usual.value > over_usual.ci95 && gain(*other, *best).value > 0) best = other;
  }
  return best == nullptr ? kUsual : best->method;
}

std::string completion_gain_sentence(const std::vector<MethodScores>& validation, int64_t k_shot) {
  const MethodScores* mean = find_scores(validation, "mean");
  const MethodScores* usual = find_scores(validation, kUsual);
  if (mean == nullptr || usual == nullptr) return "";
  const std::string chosen = best_inductive_row(validation);
  const MethodScores& reported = chosen == "completed" ? *find_scores(validation, chosen) : *usual;
  return fmt::format("Knowledge {} the {:.1f} % of the mean of {} image{} ({}, val episodes); classify uses {}.",
                     say(gain(reported, *mean)), estimate(mean->accuracy).value, k_shot, k_shot > 1 ? "s" : "",
                     reported.method, chosen);
}

}  // namespace protocom
