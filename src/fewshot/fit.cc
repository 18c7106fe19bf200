#include "protocom/fewshot/fit.h"

#include <ATen/ATen.h>

#include <set>

#include "protocom/core/error.h"

namespace protocom {
namespace {

void check_can_be_fitted(const MethodSpec& spec, const FitInputs& inputs) {
  if (!spec.fitted_as.empty())
    fail_usage("'{}' takes the file of '{}': fit that, and name both in --methods", spec.name, spec.fitted_as);
  if (!spec.has(Need::kFitting)) fail_usage("'{}' needs no fitting: name it in --methods of evaluate", spec.name);
  if (spec.has(Need::kKnowledge) && inputs.knowledge == nullptr)
    fail_usage("'{}' needs {}", spec.name, to_string(Need::kKnowledge));
  if (spec.has(Need::kFeatureMaps) && !inputs.maps.maps.defined())
    fail_usage("'{}' needs {}", spec.name, to_string(Need::kFeatureMaps));
  if (!inputs.base.features.defined() || inputs.base.features.size(0) == 0)
    fail("the features have no base class: '{}' is fitted on base classes", spec.name);
}

}  // namespace

FittedMethod fit_method(const std::string& method, const FitInputs& inputs) {
  FittedMethod fitted{make_method(method), 0, {}};
  check_can_be_fitted(fitted.method->spec(), inputs);
  fitted.feature_dim = inputs.base.features.size(1);
  const at::Tensor labels = inputs.base.labels.contiguous();
  const std::set<int64_t> classes(labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel());
  for (const int64_t label : classes) fitted.trained_on.push_back(inputs.class_names->at(static_cast<size_t>(label)));
  fitted.method->fit(inputs);
  fitted.findings = fitted.method->findings();
  return fitted;
}

}  // namespace protocom
