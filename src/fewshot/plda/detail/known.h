#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

struct PldaModel;

/// Returns for each image [q] how much more likely it is under one of its task's classes than under an unseen class:
///     r = (log mean_k exp(scale s_k)) / scale - none
/// with s_k the log predictive of class k, `scores` [q, n], and `none` [q] that of an unseen class. All n classes are
/// equally probable, so that r does not grow with their number as the best class's score does. `scale` turns scores
/// into probabilities (PldaModel::inductive_scale).
DoubleVector known_ratio(const DoubleMatrix& scores, const DoubleVector& none, double scale);

/// Parameters that turn this ratio into a probability:
///     P(one of the classes) = 1 / (1 + alike + exp(-(slope r + offset)))
/// for images of which half are of other classes. Some of these look just like one of the classes (a sparrow beside
/// another), so that no probability exceeds 1 / (1 + alike); without that term it would tend to 1 for very near images,
/// contrary to observation (docs/methods/plda.md).
struct KnownChance {
  double slope = 1;
  double offset = 0;
  double alike = 0;
};

/// Minimises the log loss of `is_known` (0 or 1), [m] like `ratio`: slope and offset by Fisher scoring on standardised
/// ratios with a small penalty, so that separable samples have a solution too, for each `alike` of a grid of 0 and .01
/// to 1.
KnownChance fit_known_chance(const DoubleVector& ratio, const DoubleVector& is_known);

/// Returns the negative log odds of being one of the classes for a ratio.
double log_odds_of_none(double ratio, const KnownChance& chance);

/// The factors that turn one task's log predictives into probabilities.
struct TaskScale {
  double logits = 1;     ///< factor of the logits
  double known = 1;      ///< factor in known_ratio()
  bool by_best = false;  ///< PldaModel::known_by_best
  KnownChance chance = {};
};

/// Returns the factors of a model for classes with `images` labelled images each, on average. The factor of the logits
/// is `asked` if that is above 0, else `known`.
TaskScale task_scale(const PldaModel& model, double images, double asked);

/// Computes the logits [q] of an unseen class for `logits` [q, n]: the probability that an image is of one of the
/// classes is found for each image alone, from its log predictives [q, n] and that of an unseen class, `none` [q].
void compute_unseen(const DoubleMatrix& predictive, const DoubleVector& none, const TaskScale& scale,
                    const float* logits, float* unseen);

}  // namespace protocom
