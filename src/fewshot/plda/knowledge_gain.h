#pragma once
#include <vector>

#include "fewshot/plda/tasks.h"
#include "protocom/fewshot/plda/fit.h"

namespace protocom {

/// What knowledge adds, by the number of shots: the same tasks drawn with it and without.
std::vector<KnowledgeGain> measure_gains(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

}  // namespace protocom
