#pragma once
#include <functional>
#include <memory>

#include "fewshot/method.h"
#include "heads/episode_batch.h"

namespace protocom {

/// What a method of batched tensors makes of a context. Thread-safe.
struct BatchScorer {
  /// Its answers for a batch whose features have been through `space`; missing supports are zeros. What one
  /// episode gets does not depend on the others of the batch, nor on the order of its queries.
  std::function<BatchScores(const EpisodeBatch& batch)> answer = nullptr;
  std::shared_ptr<const FeatureTransform> space = nullptr;  ///< null: features as they are
  int64_t fewest_shots = 1;                                 ///< labelled images that a class must have

  /// answer() of a batch that is checked first. Throws Error if its parts do not fit one another (check_batch).
  [[nodiscard]] BatchScores score(const EpisodeBatch& batch) const;
};

/// A method on tensors that takes many episodes at once: what is trained by gradients.
class BatchMethod : public Method {
 public:
  /// Throws Error when sizes of the context and of what was fitted do not fit.
  [[nodiscard]] virtual BatchScorer scorer(const MethodContext& context) const = 0;
  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const final;
  [[nodiscard]] const FastForm* join(FastForms& forms) const final;
};

/// Features float32 [..., d] after a space.
at::Tensor mapped_tensor(const FeatureTransform& space, const at::Tensor& features);

}  // namespace protocom
