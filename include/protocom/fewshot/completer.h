#pragma once
#include <ATen/core/Tensor.h>

#include "protocom/fewshot/completion_model.h"

namespace protocom {

/// Classes as the completion network sees them, in the attribute order of a CompletionModel.
struct ClassKnowledge {
  at::Tensor association;  ///< R, float32 [c, a], in [0, 1]
  at::Tensor embedding;    ///< h_k, float32 [c, e]
};

/// Completes prototypes of a fixed set of classes at test time, with the attributes' means. Everything that does not
/// depend on the prototypes (encoded attributes, the class's and the attributes' share of the attention) is computed
/// once. Thread-safe.
class Completer {
 public:
  Completer(const CompletionModel& model, const ClassKnowledge& classes);

  /// Completed prototypes (equation 7), float32 [m, d], of prototypes [m, d] of the classes `class_index` int64 [m]. A
  /// class without attributes is decoded from its own code alone. No gradients.
  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const at::Tensor& class_index) const;

 private:
  const ProtoComNet* network_;
  at::Tensor attribute_code_;    // z'_a [a, code]
  at::Tensor class_share_;       // [c, hidden], with the hidden layer's bias
  at::Tensor attribute_share_;   // [a, hidden]
  std::vector<int64_t> offset_;  // [c + 1], the pairs of each class
  std::vector<int64_t> attribute_;
  std::vector<float> weight_;
};

}  // namespace protocom
