#include "eval/detail/prepared_context.h"

#include <algorithm>

#include "eval/detail/episode_rows.h"

namespace protocom {

Methods able_with(const Methods& methods, int64_t shots) {
  Methods kept;
  std::copy_if(methods.begin(), methods.end(), std::back_inserter(kept),
               [&](const auto& method) { return method->spec().fewest_shots <= shots; });
  return kept;
}

PreparedContext::PreparedContext(const EvaluateInputs& inputs, const Methods& methods) {
  context_.model = inputs.model;
  context_.classes = inputs.classes;
  context_.knowledge = inputs.knowledge;
  context_.class_names = &inputs.features.class_names;
  const auto one_needs = [&](Need need) {
    return std::any_of(methods.begin(), methods.end(), [&](const auto& method) { return method->spec().has(need); });
  };
  if (inputs.maps != nullptr && one_needs(Need::kFeatureMaps)) {
    check_same_images(*inputs.maps, inputs.features);
    context_.maps = inputs.maps->maps;
  }
  if (!one_needs(Need::kBaseFeatures)) return;
  base_ = features_of(inputs.features, Split::kBase);
  if (base_.features.defined()) context_.base = &base_;
}

}  // namespace protocom
