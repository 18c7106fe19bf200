#pragma once
#include <memory>
#include <vector>

#include "fewshot/methods.h"
#include "support/toy_features.h"

namespace protocom::testing {

/// `plda`, fitted on the base classes and the knowledge.
inline std::shared_ptr<Method> fitted_plda(const ToyWorld& world) {
  std::shared_ptr<Method> method = make_method("plda");
  std::vector<int64_t> rows;
  const auto labels = world.features.labels.accessor<int64_t, 1>();
  for (int64_t i = 0; i < labels.size(0); ++i) {
    if (world.features.class_split[static_cast<size_t>(labels[i])] == Split::kBase) rows.push_back(i);
  }
  const at::Tensor base = at::tensor(rows, at::kLong);
  FitInputs inputs{{world.features.features.index_select(0, base), world.features.labels.index_select(0, base)},
                   {},
                   &world.knowledge,
                   &world.features.class_names};
  inputs.knowledge_use = KnowledgeUse::kAlways;
  method->fit(inputs);
  return method;
}

}  // namespace protocom::testing
