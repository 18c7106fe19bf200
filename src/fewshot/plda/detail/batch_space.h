#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/method.h"
#include "fewshot/plda/detail/vb_rows.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// The log responsibilities (up to a number an image) of one episode's queries, [1, q, n], by variational EM as `vb`
/// has it, bounded by what the labelled images say alone (PldaVbOptions::plausible) at `scale`, that of a batch's
/// probabilities. `variance`: of class means. Handicaps in `task` are not looked at.
at::Tensor batch_scores(PldaVbRows task, const PldaRowVariance& variance, const PldaLayout& layout,
                        const PldaVbOptions& vb, const at::Tensor& scale);

/// The same in a space whose within-class covariance follows the unlabelled images too, for spaces that adapt: with
/// responsibilities r as labels, their scatter about the class means updates it as that of labelled images does
///     S = (nu I + w sum_jc r_jc (x_j - m_c)(x_j - m_c)') / (nu + w u),   nu = vb.degrees,
/// where w is a quarter. The unlabelled images are taken in four
/// parts: each part is answered in a space made of the others. An image in its own scatter would be near to whatever
/// class it was first given to. Two rounds, each from the responsibilities of the one before.
at::Tensor batch_scores_following(const PldaVbRows& task, const PldaRowVariance& variance, const PldaLayout& layout,
                                  const PldaVbOptions& vb, const at::Tensor& scale);

/// Lets an adapted model follow its unlabelled images in the same way, by the labelled ones (features [m, d], labels
/// int64 [m] in [0, classes)), and gives what each counts as of each class for the class means: as it does in a batch,
/// times its chance to be of one of the classes where there are three labelled images per class or more.
/// Those that are labelled too are left out. Throws Error for features of another d. They are of no more use to the
/// model then, which has none afterwards.
SoftSupports follow_unlabelled(PldaModel& model, const at::Tensor& features, const at::Tensor& labels, int64_t classes);

}  // namespace protocom
