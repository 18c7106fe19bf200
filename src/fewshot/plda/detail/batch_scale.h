#pragma once
#include "fewshot/plda/detail/class_rows.h"

namespace protocom {

/// Returns the factor of a batch's log densities relative to those of single photos, for `images` labelled images per
/// class: variational EM counts images of the batch as images of a class, and is as certain of its answers as if they
/// had been labelled.
double batch_trust(double images);

/// What is known of a batch before it is answered together.
struct SingleAnswers {
  const DoubleMatrix& scores;       ///< [q, n], log predictives of the same images, answered one by one
  double scale = 1;                 ///< their factor, which gives probabilities
  double images = 1;                ///< labelled images per class
  Eigen::VectorXf log_shares = {};  ///< [n], of the classes, if they are given (log_shares_of)
};

/// Returns the expected error of answers to a batch, from the expected error of single answers, the labelled images per
/// class and the images of the batch per class.
double error_of_batch(double error, double images, double unlabelled);

/// Returns `scale`, but at most 2.5 / s, where s is the spread (ScoreSpread) of the scores [q, n] of all classes except
/// each image's most probable one. `scale` is derived from the spread of the labelled images' scores; with two or three
/// images per class that can be a hundredth of the queries', and probabilities would be far too extreme.
double bounded_scale(const DoubleMatrix& scores, double scale);

/// Returns the scale of a batch's scores [q, n], at which the mean probability of the most probable class is
///     1 - error_of_batch(1 - the same mean for `single`, with bounded_scale()).
/// Variational EM cannot tell how often it is right; single answers can, from labelled images left out, and those of a
/// batch are right a little more often (docs/methods/plda-own-photos.md#probabilities). A single class or no image
/// leaves `single.scale`.
double matching_batch_scale(const DoubleMatrix& scores, const SingleAnswers& single);

}  // namespace protocom
