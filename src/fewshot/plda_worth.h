#pragma once
#include <vector>

#include "fewshot/plda_tasks.h"
#include "protocom/fewshot/plda_fit.h"

namespace protocom {

/// What knowledge adds, by the number of shots: the same tasks drawn with it and without.
std::vector<KnowledgeWorth> measure_worth(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

}  // namespace protocom
