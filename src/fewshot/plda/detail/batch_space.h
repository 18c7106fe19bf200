#pragma once
#include <vector>

#include "fewshot/method.h"
#include "fewshot/plda/detail/diagonal_classes.h"
#include "fewshot/plda/model.h"
#include "fewshot/task.h"
#include "fewshot/task_images.h"

namespace protocom {

/// A task whose unlabelled images contribute to the answers, in coordinates in which images of a class have covariance
/// I and class means covariance diag(between), with independent dimensions. No image has a component in the other
/// dimensions.
struct BatchTask {
  DoubleMatrix unlabelled;  ///< [u, e]
  DoubleMatrix queries;     ///< [q, e] if there is a pool
  bool pooled = false;      ///< else the unlabelled are the queries
  DoubleMatrix sum;         ///< [n, e], sum of the labelled images
  DoubleVector count;       ///< [n], number of labelled images
  DiagonalSpace space;
  bool own_axes = false;       ///< the axes are fixed: no two dimensions may be rotated into each other
  DoubleVector chance;         ///< [u], probability to be of one of the classes; empty: 1
  std::vector<double> shares;  ///< [n], proportions of the classes among the unlabelled images, for Proportions::kGiven
};

/// Returns what is added to the log responsibilities of images for each class, at most 0, from `alone` [u, n], their
/// log probabilities (up to a constant per image) by the labelled images alone, at the scale of probabilities of a
/// batch:
///     kHandicapSlope min(0, alone - max alone - log plausible).
/// Otherwise a large class with a distinct subgroup (airplanes, among them fighters) would fill a small class that
/// happens to lie beside that subgroup (helicopters), however certain its images are individually.
DoubleMatrix vb_handicap(const DoubleMatrix& alone, double plausible);

/// Returns the log responsibilities (up to a constant per image) of the queries, [q, n], by variational EM with the
/// settings `vb`, bounded by the answers of the labelled images alone (PldaVbOptions::plausible) at `scale`, that of a
/// batch's probabilities.
DoubleMatrix batch_scores(const BatchTask& task, const PldaVbOptions& vb, double scale);

/// Does the same in a space whose within-class covariance also follows the unlabelled images, for spaces that adapt:
/// with responsibilities r as labels, their scatter about the class means updates it as that of labelled images does
///     S = (nu I + w sum_jc r_jc (x_j - m_c)(x_j - m_c)') / (nu + w u),   nu = vb.degrees,
/// where w is a quarter. The unlabelled images are divided into four parts, and each part is answered in a space made
/// from the others, since an image that contributes to the scatter would confirm its first class. Two rounds, each from
/// the responsibilities of the previous one.
DoubleMatrix batch_scores_following(const BatchTask& task, const PldaVbOptions& vb, double scale);

/// Returns the rows of its unlabelled images, [u].
std::vector<const float*> unlabelled_rows(const Task& task);
/// Returns the proportions of its classes [n] among the unlabelled images. Throws UsageError if they are not given.
std::vector<double> shares_of(const Task& task);

/// Makes a task from rows in a model's space: labelled images' number [n] and sum [n, dims], unlabelled ones [u, dims],
/// queries [q, dims] if there is a pool. In the dimensions that share a variance, coordinates are in the images' own
/// span.
BatchTask batch_task_of(const PldaModel& model, const DoubleVector& count, const DoubleMatrix& sum,
                        const DoubleMatrix& unlabelled, const DoubleMatrix* queries);

/// Adapts a model to its unlabelled images in the same way, given the labelled ones (features [m, d], labels [m] in
/// [0, classes)), and returns each image's weights for the class means: those it has in a batch, times its probability
/// to be of one of the classes if there are three labelled images per class or more. Images that are also labelled are
/// left out. Throws Error for features of another d. The model then drops its unlabelled images, which it no longer
/// needs.
SoftSupports follow_unlabelled(PldaModel& model, const DoubleMatrix& features, const std::vector<int64_t>& labels,
                               int64_t classes);

}  // namespace protocom
