#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

struct PldaModel;

/// How much likelier each image [q] is as one of its task's classes than as a class never seen:
///     r = (log mean_k exp(scale s_k)) / scale - none
/// with s_k the log predictive of class k, `scores` [q, n], and `none` [q] that of a class never seen: it may be of any
/// of the n classes with the same chance, so that r does not grow with their number as the best class's score does.
/// `scale` makes probabilities of scores (PldaModel::inductive_scale).
DoubleVector known_ratio(const DoubleMatrix& scores, const DoubleVector& none, double scale);

/// What makes a chance of that ratio:
///     P(one of the classes) = 1 / (1 + alike + exp(-(slope r + offset)))
/// where half of the images are of other classes. Some of these look just like one of the classes (a sparrow beside
/// another), so that no image is surer than 1 / (1 + alike); without that term, however near an image is, its chance
/// would go to 1, which is not so (docs/methods/plda.md).
struct KnownChance {
  double slope = 1;
  double offset = 0;
  double alike = 0;
};

/// The least log loss of `is_known` (0 or 1), [m] as `ratio`: slope and offset by Fisher scoring on standardised ratios
/// with a small penalty, so that samples that can be separated have an answer too, for each `alike` of a grid of 0 and
/// .01 to 1.
KnownChance fit_known_chance(const DoubleVector& ratio, const DoubleVector& is_known);

/// -log odds of being one of the classes for a ratio.
double log_odds_of_none(double ratio, const KnownChance& chance);

/// What makes probabilities of one task's log predictives.
struct TaskScale {
  double logits = 1;     ///< their factor
  double known = 1;      ///< of known_ratio()
  bool by_best = false;  ///< PldaModel::known_by_best
  KnownChance chance = {};
};

/// Those of a model for classes with `images` labelled images each, on average. The factor of the logits is `asked` if
/// that is above 0, else `known`.
TaskScale task_scale(const PldaModel& model, double images, double asked);

/// The logits [q] of a class never seen beside `logits` [q, n]: the chance that an image is of one of the classes is
/// judged of each image by itself, from its log predictives [q, n] and that of a class never seen, `none` [q].
void compute_unseen(const DoubleMatrix& predictive, const DoubleVector& none, const TaskScale& scale,
                    const float* logits, float* unseen);

}  // namespace protocom
