#include "eval/analysis_base_classes.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "eval/fit.h"

namespace protocom {
namespace {

/// Whether a method can be refitted on fewer base classes: a completion model is not retrained, and feature maps are
/// not those of fewer images.
bool goes_along(const MethodSpec& spec) { return !spec.has(Need::kCompletionModel) && !spec.has(Need::kFeatureMaps); }

/// Returns the texts of the methods that can be refitted.
std::vector<std::string> texts_that_go_along(const Methods& methods) {
  std::vector<std::string> texts;
  for (const auto& method : methods) {
    if (goes_along(method->spec())) texts.push_back(method->label());
  }
  if (texts.empty())
    fail_usage(
        "no method can be fitted on fewer base classes, as each needs a completion model or feature maps: add one that "
        "needs neither");
  return texts;
}

/// Refits a method, with knowledge if it was fitted with knowledge.
FittedMethod fit_again(const FittedMethod& fitted, const FeatureSet& features, const KnowledgeTable* knowledge,
                       uint64_t seed, Progress& progress) {
  const bool knows = fitted.method->spec().has(Need::kKnowledge) || !fitted.method->state().attributes.empty();
  return fit_method({features, knows ? knowledge : nullptr}, {fitted.method->label(), seed}, progress);
}

}  // namespace

FeatureSet with_fewer_base_classes(const FeatureSet& features, int64_t count, uint64_t seed) {
  std::vector<int64_t> base = features.classes_of(Split::kBase);
  const auto available = static_cast<int64_t>(base.size());
  if (count < 1 || count > available)
    fail_usage("number of base classes out of range: expected 1 to {}, found {}", available, count);
  std::vector<int64_t> kept;
  for (const int64_t drawn : Rng(seed).sample(available, available)) {
    if (static_cast<int64_t>(kept.size()) < count) kept.push_back(base[static_cast<size_t>(drawn)]);
  }
  for (const Split split : {Split::kVal, Split::kNovel}) {
    const auto others = features.classes_of(split);
    kept.insert(kept.end(), others.begin(), others.end());
  }
  std::sort(kept.begin(), kept.end());
  return keep_classes(features, kept);
}

std::vector<SeriesPoint> accuracy_by_base_classes(const AnalysisInputs& inputs, const BaseClassSweep& sweep,
                                                  Progress& progress) {
  const std::vector<std::string> texts = texts_that_go_along(inputs.methods);
  std::vector<SeriesPoint> points;
  for (const int64_t count : sweep.counts) {
    const FeatureSet fewer = with_fewer_base_classes(inputs.data.features, count, sweep.episodes.seed);
    std::vector<FittedMethod> refitted;
    for (const FittedMethod& method : sweep.fitted) {
      if (goes_along(method.method->spec()))
        refitted.push_back(fit_again(method, fewer, inputs.data.knowledge, sweep.episodes.seed, progress));
    }
    const AnalysisInputs here{
        {fewer, nullptr, nullptr, inputs.data.knowledge}, make_methods(texts, refitted), inputs.baseline};
    const auto scores = evaluate(here, sample_episodes(fewer, sweep.episodes), progress);
    append_points(here, static_cast<double>(count), scores, points);
  }
  return points;
}

std::vector<int64_t> base_classes_up_to(int64_t available) {
  std::vector<int64_t> counts;
  for (int64_t count = 8; count < available; count *= 2) counts.push_back(count);
  counts.push_back(available);
  return counts;
}

}  // namespace protocom
