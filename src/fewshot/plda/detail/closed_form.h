#pragma once
#include "fewshot/episode_batch.h"

namespace protocom {

/// Gaussian discriminant analysis of each episode by the closed form of Wang et al. (ICLR 2024), all classes as likely:
/// q P mu_k' - mu_k P mu_k' / 2 with P = d ((N - 1) Sigma + tr(Sigma) I)^-1, where Sigma is the covariance of the N
/// supports about their class means, and all images are at unit length: float64 [b, q, n]. Without two different images
/// of one class P is I.
at::Tensor closed_form_scores(const EpisodeBatch& batch);

}  // namespace protocom
