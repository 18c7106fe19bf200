#pragma once
#include <ATen/core/Tensor.h>

#include <functional>

#include "fewshot/method.h"
#include "fewshot/paper/completion_model.h"
#include "heads/episode_batch.h"

namespace protocom {

/// Completes prototypes [b, n, d] of the classes int64 [b, n].
using CompletePrototypes = std::function<at::Tensor(const at::Tensor& prototypes, const at::Tensor& classes)>;

/// Returns the answers of one of the paper's rows on tensors, differentiable in features, completion and gamma, for
/// training and as the reference of the row's run. `gamma` is the factor of the cosine if the method's parameters give
/// none; `complete` may be null for the row of means. Throws UsageError for another method, Error for a batch whose
/// parts do not fit one another.
BatchScores paper_row_scores(const Method& method, const EpisodeBatch& batch, const CompletePrototypes& complete,
                             const at::Tensor& gamma);

/// Returns completion at test time, by the attributes' means. The arguments must outlive it.
CompletePrototypes complete_by(const CompletionModel& model, const KnowledgeTable& classes);

}  // namespace protocom
