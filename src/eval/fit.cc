#include "protocom/eval/fit.h"

#include <ATen/ATen.h>

#include "eval/episode_rows.h"
#include "protocom/core/error.h"

namespace protocom {

namespace {

FitMaps maps_for(const MethodSpec& spec, const FitSources& from, bool sees_val) {
  if (!spec.has(Need::kFeatureMaps)) return {};
  if (from.maps == nullptr) fail_usage("'{}' needs {}", spec.name, to_string(Need::kFeatureMaps));
  check_same_images(*from.maps, from.features);
  return {from.maps->maps, rows_of(from.features, Split::kBase),
          sees_val ? rows_of(from.features, Split::kVal) : at::Tensor()};
}

}  // namespace

FittedMethod fit_method(const FitSources& from, const FitOptions& options, Progress& progress) {
  const FeatureSet& features = from.features;
  FittedMethod fitted{make_method(options.method), features.dim(), {}};
  const MethodSpec& spec = fitted.method->spec();
  if (!spec.fitted_as.empty())
    fail_usage("'{}' takes the file of '{}': fit that, and name both in --methods", spec.name, spec.fitted_as);
  if (!spec.has(Need::kFitting)) fail_usage("'{}' needs no fitting: name it in --methods of evaluate", spec.name);
  if (spec.has(Need::kKnowledge) && from.knowledge == nullptr)
    fail_usage("'{}' needs {}", spec.name, to_string(Need::kKnowledge));
  const auto base = features.classes_of(Split::kBase);
  if (base.empty()) fail("the features have no base class: '{}' is fitted on base classes", spec.name);
  for (const int64_t label : base) fitted.trained_on.push_back(features.class_names[static_cast<size_t>(label)]);
  const LabelledFeatures val = options.sees_val ? features_of(features, Split::kVal) : LabelledFeatures{};
  fitted.method->fit({features_of(features, Split::kBase), val, from.knowledge, &features.class_names, options.seed,
                      &progress, maps_for(spec, from, options.sees_val)});
  fitted.findings = fitted.method->findings();
  return fitted;
}

}  // namespace protocom
