#include "eval/known.h"

#include <algorithm>

#include "eval/episode_rows.h"

namespace protocom {

Known::Known(const EvaluateInputs& inputs, const Methods& methods) {
  context_.model = inputs.model;
  context_.classes = inputs.classes;
  context_.knowledge = inputs.knowledge;
  context_.class_names = &inputs.features.class_names;
  const auto needs_base = [](const auto& method) { return method->spec().has(Need::kBaseFeatures); };
  if (!std::any_of(methods.begin(), methods.end(), needs_base)) return;
  base_ = features_of(inputs.features, Split::kBase);
  if (base_.features.defined()) context_.base = &base_;
}

}  // namespace protocom
