#pragma once
#include <optional>

#include "fewshot/episode_batch.h"
#include "fewshot/plda/detail/foreign_images.h"
#include "fewshot/plda/detail/foreign_rows.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// What `plda` answers in the space that adapted() would make of a fitted one after an episode's labelled images,
/// without that space: S^-1/2 is a multiple of I less a product of the images' differences (plda/foreign_scatter.h), so
/// that with rows of `space` an episode takes O((m + q) m e) in place of O((m + q) e^2).
///
/// `space` is that of the model; `scale` is plda's factor of log predictives, 0: the one that folds find. Logits
/// [1, q, n] and those of a class never seen, as adapted() and PldaRows give, up to rounding. Nothing where those have
/// to be asked: a class has copies of an image or none, the labelled images are more than 256 or as many as dimensions,
/// or an image hardly differs from the center.
std::optional<EpisodeScores> answer_in_foreign_space(const ForeignEpisode& episode, const ForeignRows& space,
                                                     const PldaModel& model, double scale);

/// The same of one episode of features; nothing where a support counts in part, too.
std::optional<EpisodeScores> answer_in_foreign_space(const EpisodeBatch& episode, const ForeignRows& space,
                                                     const PldaModel& model, double scale);

}  // namespace protocom
