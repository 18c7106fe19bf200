#pragma once
#include "protocom/core/process_group.h"
#include "protocom/eval/evaluate.h"

namespace protocom {

/// evaluate_checked() with the episodes shared among the processes of a group. Every process gets all of the answer,
/// and it is that of one process to the last bit.
CheckedScores evaluate_shared(const FeatureSet& features, const EpisodeList& episodes, const CompletionModel* model,
                              const ClassKnowledge* classes, const EvaluateOptions& options, const ProcessGroup& group,
                              Progress& progress);

}  // namespace protocom
