#pragma once
#include <vector>

#include "fewshot/method.h"
#include "fewshot/plda/detail/diagonal_classes.h"
#include "fewshot/plda/model.h"
#include "fewshot/task.h"
#include "fewshot/task_images.h"

namespace protocom {

/// One task whose unlabelled images take part in the answers, in coordinates in which those of a class have the
/// covariance I and class means diag(between), every dimension by itself. No image has a part in the other dimensions.
struct BatchTask {
  DoubleMatrix unlabelled;  ///< [u, e]
  DoubleMatrix queries;     ///< [q, e] beside a pool
  bool pooled = false;      ///< else the unlabelled are the queries
  DoubleMatrix sum;         ///< [n, e], of the labelled
  DoubleVector count;       ///< [n]
  DiagonalSpace space;
  bool own_axes = false;       ///< no two dimensions can be exchanged for others
  DoubleVector chance;         ///< [u], of being of one of the classes; empty: they are
  std::vector<double> shares;  ///< [n], of the classes among the unlabelled, for Proportions::kGiven
};

/// What is added to the log responsibilities of images for each class, at most 0, from `alone` [u, n], their log
/// probabilities (up to a number per image) by the labelled images alone, at the scale of probabilities of a batch:
///     kHandicapSlope min(0, alone - max alone - log plausible).
/// A large class with a part of its own (airplanes, among them fighters) would else fill a small class that happens to
/// lie beside that part (helicopters), however sure its images are one by one.
DoubleMatrix vb_handicap(const DoubleMatrix& alone, double plausible);

/// The log responsibilities (up to a number per image) of the queries, [q, n], by variational EM as `vb` has it,
/// bounded by what the labelled images say alone (PldaVbOptions::plausible) at `scale`, that of a batch's
/// probabilities.
DoubleMatrix batch_scores(const BatchTask& task, const PldaVbOptions& vb, double scale);

/// The same in a space whose within-class covariance follows the unlabelled images too, for spaces that adapt: with
/// responsibilities r as labels, their scatter about the class means updates it as that of labelled images does
///     S = (nu I + w sum_jc r_jc (x_j - m_c)(x_j - m_c)') / (nu + w u),   nu = vb.degrees,
/// where w is a quarter. The unlabelled images are taken in four parts: each part is answered in a space made of the
/// others, since an image that contributes to the scatter would confirm its first class. Two rounds, each from the
/// responsibilities of the one before.
DoubleMatrix batch_scores_following(const BatchTask& task, const PldaVbOptions& vb, double scale);

/// Rows of its unlabelled images, [u].
std::vector<const float*> unlabelled_rows(const Task& task);
/// The shares of its classes [n] among the unlabelled. Throws UsageError if they are not given.
std::vector<double> shares_of(const Task& task);

/// The task of rows in a model's space: labelled images' number [n] and sum [n, dims], unlabelled ones [u, dims],
/// queries [q, dims] beside a pool. In the dimensions that share a variance coordinates are those of the images' own
/// span.
BatchTask batch_task_of(const PldaModel& model, const DoubleVector& count, const DoubleMatrix& sum,
                        const DoubleMatrix& unlabelled, const DoubleMatrix* queries);

/// Lets an adapted model follow its unlabelled images in the same way, by the labelled ones (features [m, d], labels
/// [m] in [0, classes)), and gives what each counts as of each class for the class means: as it does in a batch, times
/// its chance to be of one of the classes if there are three labelled images per class or more.
/// Those that are labelled too are left out. Throws Error for features of another d. They are of no more use to the
/// model then, which has none afterwards.
SoftSupports follow_unlabelled(PldaModel& model, const DoubleMatrix& features, const std::vector<int64_t>& labels,
                               int64_t classes);

}  // namespace protocom
