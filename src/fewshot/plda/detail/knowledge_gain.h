#pragma once
#include <vector>

#include "fewshot/plda/detail/tasks.h"
#include "fewshot/plda/fit.h"

namespace protocom {

/// The mean over classes of the gain in accuracy on their images, in points, and the half width of the 95 % interval
/// for the mean of half as many other classes: the classes of later queries are others, drawn as these were. With n
/// classes measured and m to come that is t s sqrt(1 / n + 1 / m) (a prediction interval); tasks share classes, so an
/// interval over tasks would be too narrow.
struct GainOfClasses {
  double mean = 0;
  double ci95 = 0;
};

/// Computes the gain from the same tasks drawn with knowledge and without.
GainOfClasses gain_of_classes(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

/// Returns the gain from knowledge by number of shots, from the same tasks drawn with it and without.
std::vector<KnowledgeGain> measure_gains(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without);

/// Raises `high` of gains measured with classes left out in `parts` parts to the gain expected with all classes. The
/// prior learns from a share 1 - 1 / p of C classes, and its gain is modelled as g - a / (classes learnt from). With g1
/// in `parts` parts and g2 in `fewer`, `high` grows by
///     (g1 - g2) (1 / s1 - 1) / (1 / s2 - 1 / s1),   s = 1 - 1 / p,
/// but not below 0: more classes do not teach less. `low` stays: the trend does not always continue (docs/log/plda.md).
std::vector<KnowledgeGain> with_all_classes(std::vector<KnowledgeGain> gains, int64_t parts,
                                            const std::vector<KnowledgeGain>& of_fewer, int64_t fewer);

}  // namespace protocom
