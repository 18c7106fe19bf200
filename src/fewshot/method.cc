#include "protocom/fewshot/method.h"

#include "protocom/core/error.h"

namespace protocom {

EpisodeScores Scorer::score(const EpisodeBatch& batch) const {
  check_batch(batch);
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
