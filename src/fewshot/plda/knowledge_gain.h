#pragma once
#include <vector>

#include "fewshot/plda/tasks.h"
#include "protocom/fewshot/plda/fit.h"

namespace protocom {

/// The mean over classes of what the answers about their images gain, in points, and the half width of the 95 %
/// interval in which the mean of as many other classes lies: the classes that somebody asks about are others, drawn as
/// these were. Tasks share classes, so that an interval over tasks is too narrow.
struct GainOfClasses {
  double mean = 0;
  double ci95 = 0;
};

/// Of the same tasks drawn with knowledge and without.
GainOfClasses gain_of_classes(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

/// What knowledge adds, by the number of shots: the same tasks drawn with it and without.
std::vector<KnowledgeGain> measure_gains(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

}  // namespace protocom
