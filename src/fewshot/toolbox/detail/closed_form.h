#pragma once
#include "fewshot/toolbox/detail/linear_scores.h"

namespace protocom {

/// Learns Gaussian discriminant analysis of a task at unit length in the closed form of Wang et al. (ICLR 2024), with
/// equal class priors: q P mu_k' - mu_k P mu_k' / 2 with P = d ((N - 1) Sigma + tr(Sigma) I)^-1, where Sigma is the
/// covariance of the N supports about their class means. Without two different images of one class P is I.
LinearScores closed_form(const Task& task);

/// Returns these scores of the task's queries, [q, n].
DoubleMatrix closed_form_scores(const Task& task);

}  // namespace protocom
