#include "eval/fit.h"

#include "eval/detail/episode_rows.h"

namespace protocom {
namespace {

FitMaps maps_for(const MethodSpec& spec, const FitSources& from, bool sees_val) {
  if (!spec.has(Need::kFeatureMaps) || from.maps == nullptr) return {};
  check_same_images(*from.maps, from.features);
  return {from.maps->maps, rows_of(from.features, Split::kBase),
          sees_val ? rows_of(from.features, Split::kVal) : std::vector<int64_t>()};
}

}  // namespace

FittedMethod fit_method(const FitSources& from, const FitRecipe& options, Progress& progress) {
  const FeatureSet& features = from.features;
  const LabelledFeatures val = options.sees_val ? features_of(features, Split::kVal) : LabelledFeatures{};
  const FitMaps maps = maps_for(make_method(options.method)->spec(), from, options.sees_val);
  const bool never = options.knowledge_use == KnowledgeUse::kNever;
  return fit_method(options.method, {features_of(features, Split::kBase), val, never ? nullptr : from.knowledge,
                                     &features.class_names, options.seed, options.knowledge_use, &progress, maps});
}

}  // namespace protocom
