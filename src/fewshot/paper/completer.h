#pragma once
#include <ATen/core/Tensor.h>

#include <memory>

#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

/// Completes prototypes of a fixed set of classes at test time, with the attributes' means. Everything that does not
/// depend on the prototypes (encoded attributes, the class's and the attributes' share of the attention) is computed
/// once, from the network's weights at that time. Thread-safe. A prototype's completion is the same to the last bit
/// whatever is completed beside it and on any number of threads; processors with other vectors differ by rounding.
class Completer {
 public:
  /// Throws Error when a tensor of the model or the classes is not on the CPU, has another dtype, or their numbers of
  /// attributes or dimensions differ.
  Completer(const CompletionModel& model, const KnowledgeTable& classes);
  ~Completer();

  /// Completed prototypes (equation 7), float32 [m, d], of prototypes float32 [m, d] of the classes `class_index`,
  /// int64 [m] in [0, c), all on the CPU. A class without attributes is decoded from its own code alone. No gradients.
  /// Throws Error for tensors that are not so.
  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const at::Tensor& class_index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
