#include "fewshot/method.h"

#include "base/error.h"

namespace protocom {

namespace {

EpisodeBatch mapped(const EpisodeBatch& batch, const FeatureTransform& map) {
  EpisodeBatch moved = batch;
  if (batch.support.defined()) moved.support = map.map(batch.support);
  if (batch.support_mask.defined()) moved.support = moved.support * batch.support_mask.unsqueeze(-1);
  moved.query = map.map(batch.query);
  if (batch.unlabelled.defined()) moved.unlabelled = map.map(batch.unlabelled);
  return moved;
}

}  // namespace

EpisodeScores Scorer::score(const EpisodeBatch& batch) const {
  check_batch(batch, fewest_shots());
  const auto map = feature_transform();
  return answer(map == nullptr ? batch : mapped(batch, *map));
}

EpisodeScores Scorer::score_mapped(const EpisodeBatch& batch) const {
  check_batch(batch, fewest_shots());
  return answer(batch);
}

void Method::fit(const FitInputs&) { fail_usage("'{}' needs no fitting: name it in --methods", spec().name); }

void Method::load(const MethodState& state) {
  if (!state.empty())
    fail("'{}' holds nothing fitted, the file has {} tensors for it", spec().name, state.tensors.size());
}

const at::Tensor& MethodState::at(const std::string& name) const {
  for (const auto& [own, tensor] : tensors) {
    if (own == name) return tensor;
  }
  fail("the fitted method lacks the tensor '{}'", name);
}

}  // namespace protocom
