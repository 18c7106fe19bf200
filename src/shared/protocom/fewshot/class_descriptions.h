#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "protocom/core/knowledge_table.h"

namespace protocom {

/// What is known of classes besides images, a row each, over the attributes of a model. Either may be undefined, and a
/// row of zeros means that nothing is known.
struct ClassDescriptions {
  at::Tensor association;                       ///< R, [c, a], in [0, 1]
  at::Tensor embedding;                         ///< h_k, [c, e]
  std::vector<int64_t> embedding_sources = {};  ///< as KnowledgeTable has them

  [[nodiscard]] bool empty() const { return !association.defined() && !embedding.defined(); }
  /// Those of these classes, int64 [n].
  [[nodiscard]] ClassDescriptions rows(const at::Tensor& classes) const;
};

/// The rows of `class_names` over the attributes named: association float32 [c, a], embedding float32 [c, e]. A
/// class that the knowledge does not name gets no attributes and a zero embedding; attributes that it does not name are
/// 0 for every class. Both are reported through the logger. Throws Error when not one class is known.
ClassDescriptions align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                                  const std::vector<std::string>& attributes);

}  // namespace protocom
