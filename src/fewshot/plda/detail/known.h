#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "fewshot/episode_batch.h"

namespace protocom {

/// How much likelier each image [b, q] is under the classes of its task than under a class never seen:
///     r = (log mean_k exp(scale s_k)) / scale - none
/// with s_k the log predictive of class k, `scores` [b, q, n], and `none` [b, q] that of a class never seen: it may be
/// of any of the n classes with the same chance, so that r does not grow with their number as the best class's score
/// does. `scale` [b, 1, 1] makes probabilities of scores (PldaModel::inductive_scale).
at::Tensor known_ratio(const at::Tensor& scores, const at::Tensor& none, const at::Tensor& scale);

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

/// The least log loss of `is` (0 or 1), float64 [m] as `ratio`: slope and offset by Fisher scoring on standardised
/// ratios with a small penalty, so that samples that can be separated have an answer too, for each `alike` of a grid of
/// 0 and .01 to 1.
KnownChance fit_known_chance(const at::Tensor& ratio, const at::Tensor& is);

/// -log odds [b, q] of being one of the classes for the ratios [b, q]; slope, offset and alike broadcast to them.
at::Tensor log_odds_of_none(const at::Tensor& ratio, const at::Tensor& slope, const at::Tensor& offset,
                            const at::Tensor& alike);

/// What makes logits of one episode's log predictives.
struct EpisodeScale {
  double logits = 1;     ///< their factor
  double known = 1;      ///< of known_ratio()
  bool by_best = false;  ///< PldaModel::known_by_best
  KnownChance chance = {};
};

/// Logits of log predictives [q, n] and those of a class never seen, `none` [q], as PldaPrepared::unseen() has them, in
/// plain loops.
EpisodeScores scaled_scores(const std::vector<double>& predictive, const std::vector<double>& none, int64_t classes,
                            const EpisodeScale& scale);

}  // namespace protocom
