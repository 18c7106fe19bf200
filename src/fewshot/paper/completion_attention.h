#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

/// How a completion model weighs the attributes of a class in single images.
struct CompletionAttention {
  FloatMatrix alpha;         ///< [m, a'], of equation 10; there is no softmax, so it may be negative
  FloatMatrix contribution;  ///< [m, a'], |alpha z'_a| / |z'_k|: 1 weighs as much as the image's own code
};

/// Of class `k` of `classes`, whose attributes are those numbered `attributes` [a'], in images [m, d], each taken as a
/// prototype of one shot.
CompletionAttention completion_attention(const CompletionModel& model, const KnowledgeTable& classes, int64_t k,
                                         const std::vector<int64_t>& attributes, const FloatMatrix& images);

}  // namespace protocom
