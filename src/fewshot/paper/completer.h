#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

/// Completes prototypes of a fixed set of classes at test time, with the attributes' means. Everything independent of
/// the prototypes (encoded attributes, the classes' and attributes' contributions to the attention) is computed once,
/// from the model's weights at that time. Thread-safe. A prototype's completion is identical to the last bit whatever
/// is completed with it and for any number of threads; processors with other vectors differ by rounding.
class Completer {
 public:
  /// Throws Error if an array of the model or the classes is not float32, or their numbers of attributes or dimensions
  /// differ.
  Completer(const CompletionModel& model, const KnowledgeTable& classes);
  ~Completer();

  /// Returns completed prototypes (equation 7), [m, d], for prototypes [m, d] of the classes `class_index` [m] in
  /// [0, c). A class without attributes is decoded from its own code alone. No gradients. Throws Error for other sizes
  /// and classes.
  [[nodiscard]] FloatMatrix complete(const FloatMatrix& prototypes, const std::vector<int64_t>& class_index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
