#pragma once
#include <ATen/ATen.h>

#include "fewshot/paper/completion_model.h"
#include "heads/protocomnet.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {

/// Returns an untrained network with the toy world's attributes: its scores are arbitrary, but every path runs.
inline CompletionModel untrained_model(const ToyWorld& world) {
  at::manual_seed(2);
  ProtoComNetOptions options;
  options.feature_dim = world.features.dim();
  options.embedding_dim = world.knowledge.embedding_dim();
  const auto attributes = static_cast<int64_t>(world.knowledge.attributes.size());
  return {options,
          weights_of(ProtoComNet(options)),
          world.knowledge.attributes,
          world.knowledge.attribute_embedding,
          array_of(at::randn({attributes, world.features.dim()})),
          array_of(at::ones({attributes, world.features.dim()}))};
}

}  // namespace protocom::testing
