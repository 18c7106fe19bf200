#pragma once
#include <vector>

#include "report/bench.h"

namespace protocom {

/// The four classes that are right least often, with the images that were wrong most often and some of the class that
/// they are taken for.
std::vector<WorstClass> worst_classes(Bench& bench, const ClassesAnalysis& analysis);

}  // namespace protocom
