#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

/// The weights that a completion model gives the attributes of a class in single images.
struct CompletionAttention {
  FloatMatrix alpha;         ///< [m, a'], equation 10; without a softmax, so it may be negative
  FloatMatrix contribution;  ///< [m, a'], |alpha z'_a| / |z'_k|: 1 weighs as much as the image's own code
};

/// Computes the attention for class `k` of `classes`, whose attributes are `attributes` [a'], in images [m, d], each
/// used as a one-shot prototype.
CompletionAttention completion_attention(const CompletionModel& model, const KnowledgeTable& classes, int64_t k,
                                         const std::vector<int64_t>& attributes, const FloatMatrix& images);

}  // namespace protocom
