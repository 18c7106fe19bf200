#pragma once
#include <vector>

#include "fewshot/plda/detail/tasks.h"
#include "fewshot/plda/fit.h"

namespace protocom {

/// The mean over classes of what the answers about their images gain, in points, and the half width of the 95 %
/// interval in which the mean of half as many other classes lies: the classes of later queries are others,
/// drawn as these were. With n classes measured and m to come that is t s sqrt(1 / n + 1 / m) (a prediction interval);
/// tasks share classes, so that an interval over tasks is too narrow.
struct GainOfClasses {
  double mean = 0;
  double ci95 = 0;
};

/// Of the same tasks drawn with knowledge and without.
GainOfClasses gain_of_classes(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

/// What knowledge adds, by the number of shots: the same tasks drawn with it and without.
std::vector<KnowledgeGain> measure_gains(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

/// Gains measured with the classes left out in `parts` parts, with `high` raised to what all classes would give. The
/// prior learns from a share 1 - 1 / p of C classes, and its gain is taken to be g - a / (classes learnt from). With g1
/// in `parts` parts and g2 in `fewer`, `high` grows by
///     (g1 - g2) (1 / s1 - 1) / (1 / s2 - 1 / s1),   s = 1 - 1 / p,
/// but not below 0: more classes do not teach less. `low` stays: it does not always go on so (docs/log/plda.md).
std::vector<KnowledgeGain> with_all_classes(std::vector<KnowledgeGain> gains, int64_t parts,
                                            const std::vector<KnowledgeGain>& of_fewer, int64_t fewer);

}  // namespace protocom
