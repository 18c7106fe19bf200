#pragma once
#include <optional>

#include "fewshot/episode_batch.h"
#include "fewshot/method.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// What `plda` answers in the space that adapted() would make of an episode's labelled images where nothing was fitted,
/// without that space. S and the between-class covariance are multiples of I but for the span of the labelled images,
/// and what answers need are rational functions of S: so inner products with the m labelled images are all that is read
/// of features of d dimensions, and with R tridiagonal (toolbox/tridiagonal.h) a function of S takes O(m) for each
/// vector. An episode takes O((m + q) m d + m^3) in place of O(d^3).
///
/// `episode` has one episode; `scale` is plda's factor of log predictives, 0: the one that folds find. Logits [1, q, n]
/// and those of a class never seen, as adapted() and PldaRows give, up to rounding. Nothing where those have to be
/// asked: a class has copies of an image, a support counts in part, the labelled images are more than 256, or an image
/// hardly differs from the center.
std::optional<EpisodeScores> answer_in_own_span(const EpisodeBatch& episode, const PldaAdaptation& adaptation,
                                                double scale);

}  // namespace protocom
