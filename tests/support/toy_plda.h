#pragma once
#include <memory>
#include <vector>

#include "fewshot/methods.h"
#include "support/toy_features.h"

namespace protocom::testing {

/// Returns `plda`, fitted on the base classes and the knowledge.
inline std::shared_ptr<Method> fitted_plda(const ToyWorld& world) {
  std::shared_ptr<Method> method = make_method("plda");
  std::vector<int64_t> rows;
  const std::vector<int64_t>& labels = world.features.labels;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (world.features.class_split[static_cast<size_t>(labels[i])] == Split::kBase)
      rows.push_back(static_cast<int64_t>(i));
  }
  LabelledFeatures base{world.features.features.gathered(rows), {}};
  for (const int64_t row : rows) base.labels.push_back(labels[static_cast<size_t>(row)]);
  FitInputs inputs{std::move(base), {}, &world.knowledge, &world.features.class_names};
  inputs.knowledge_use = KnowledgeUse::kAlways;
  method->fit(inputs);
  return method;
}

}  // namespace protocom::testing
