#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "protocom/core/knowledge_table.h"

namespace protocom {

/// Classes as the completion network sees them, in the attribute order of a CompletionModel.
struct ClassKnowledge {
  at::Tensor association;  ///< R, float32 [c, a], in [0, 1]
  at::Tensor embedding;    ///< h_k, float32 [c, e]
};

/// The rows of `class_names` over the attributes named, from what is known: association [c, a], embedding [c, e]. A
/// class that the knowledge does not name gets no attributes and a zero embedding; attributes that it does not name are
/// 0 for every class. Both are reported through the logger. Throws Error when not one class is known.
ClassKnowledge align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes);

}  // namespace protocom
