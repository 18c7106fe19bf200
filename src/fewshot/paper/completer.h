#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

/// Completes prototypes of a fixed set of classes at test time, with the attributes' means. Everything that does not
/// depend on the prototypes (encoded attributes, the class's and the attributes' share of the attention) is computed
/// once, from the model's weights at that time. Thread-safe. A prototype's completion is the same to the last bit
/// whatever is completed beside it and on any number of threads; processors with other vectors differ by rounding.
class Completer {
 public:
  /// Throws Error when an array of the model or the classes is not float32, or their numbers of attributes or
  /// dimensions differ.
  Completer(const CompletionModel& model, const KnowledgeTable& classes);
  ~Completer();

  /// Completed prototypes (equation 7), [m, d], of prototypes [m, d] of the classes `class_index` [m] in [0, c). A
  /// class without attributes is decoded from its own code alone. No gradients. Throws Error for sizes and classes that
  /// are not so.
  [[nodiscard]] FloatMatrix complete(const FloatMatrix& prototypes, const std::vector<int64_t>& class_index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
