#pragma once
#include "fewshot/plda/detail/class_rows.h"

namespace protocom {

/// Returns the factor of a batch's log densities relative to those of single photos, for `images` labelled images per
/// class: variational EM counts images of the batch as images of a class, and is as certain of its answers as if they
/// had been labelled.
double batch_trust(double images);

/// Returns the scale of a batch's probabilities: `scale`, but at most 2.5 / s, where s is the spread (ScoreSpread) of
/// the scores [q, n] of all classes except each image's most probable one. `scale` is derived from the spread of the
/// labelled images' scores; with two or three images per class that can be a hundredth of the batch's, and
/// probabilities would be far too extreme.
double bounded_batch_scale(const DoubleMatrix& scores, double scale);

}  // namespace protocom
