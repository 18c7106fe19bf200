#pragma once
#include <functional>
#include <memory>

#include "fewshot/method.h"
#include "heads/episode_batch.h"

namespace protocom {

/// Scorer that a method of batched tensors prepares from a context. Thread-safe.
struct BatchScorer {
  /// Answers a batch whose features have been through `space`; missing supports are zeros. The answer for an episode
  /// does not depend on the other episodes of the batch, nor on the order of its queries.
  std::function<BatchScores(const EpisodeBatch& batch)> answer = nullptr;
  std::shared_ptr<const FeatureTransform> space = nullptr;  ///< null: features are used as they are
  int64_t fewest_shots = 1;                                 ///< labelled images that a class must have

  /// Checks the batch and returns its answer(). Throws Error if its parts do not fit one another (check_batch).
  [[nodiscard]] BatchScores score(const EpisodeBatch& batch) const;
};

/// A method on tensors that takes many episodes at once: one that is trained by gradients.
class BatchMethod : public Method {
 public:
  /// Throws Error when sizes of the context and of the fitted state do not fit.
  [[nodiscard]] virtual BatchScorer scorer(const MethodContext& context) const = 0;
  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const final;
  [[nodiscard]] const FastForm* join(FastForms& forms) const final;
};

/// Maps features float32 [..., d] by a space.
at::Tensor mapped_tensor(const FeatureTransform& space, const at::Tensor& features);

}  // namespace protocom
