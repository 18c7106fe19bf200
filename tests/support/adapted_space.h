#pragma once

#include <ATen/ATen.h>

#include <string>

#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/state.h"
#include "support/matrices.h"
#include "support/scorer.h"

namespace protocom::testing {

/// Returns a method's answer to an episode of float32 support [1, n, k, d] in the space that adapted() makes from
/// `model`.
inline testing::TensorScores in_adapted_space(const EpisodeBatch& batch, PldaModel model,
                                              const std::string& text = "plda") {
  model.adaptation.unlabelled = text == "plda-vb";
  const int64_t classes = batch.support.size(1), shots = batch.support.size(2);
  at::Tensor features = batch.support.view({classes * shots, -1});
  at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(shots);
  if (batch.support_mask.defined()) {
    const at::Tensor there = batch.support_mask.flatten().nonzero().flatten();
    features = features.index_select(0, there);
    labels = labels.index_select(0, there);
  }
  const auto method = make_method(text);
  method->load(state_of(adapted(model, matrix_of(features), labels_of(labels), classes), {}));
  return testing::scores_of(*method, {}, batch);
}

}  // namespace protocom::testing
