#include "fewshot/toolbox/detail/closed_form.h"

#include <algorithm>
#include <utility>

#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom {

LinearScores closed_form(const Task& task) {
  const int64_t images = task.supports();
  const DoubleMatrix x = matrix_of(task, 0, images);
  DoubleMatrix means = DoubleMatrix::Zero(task.n, task.width);
  DoubleVector counts = DoubleVector::Zero(task.n);
  for (int64_t i = 0; i < images; ++i) {
    const int64_t k = task.label[static_cast<size_t>(i)];
    means.row(k) += x.row(i);
    counts[k] += 1;
  }
  means.array().colwise() /= counts.array();
  DoubleMatrix within = x;
  for (int64_t i = 0; i < images; ++i) within.row(i) -= means.row(task.label[static_cast<size_t>(i)]);

  // (W'W + ridge I)^-1 = (I - W' (W W' + ridge I)^-1 W) / ridge: no d x d matrix.
  DoubleMatrix gram = within * within.transpose();  // [s, s]
  const double ridge = gram.trace() / static_cast<double>(std::max<int64_t>(images - 1, 1));
  DoubleMatrix weights = means;
  if (ridge > 0) {
    gram.diagonal().array() += ridge;
    const DoubleMatrix along = gram.llt().solve(within * means.transpose());  // [s, n]
    weights.noalias() -= along.transpose() * within;
    weights *= static_cast<double>(task.width) / ridge;
  }
  DoubleVector biases = -0.5 * weights.cwiseProduct(means).rowwise().sum();
  return {std::move(weights), std::move(biases)};
}

DoubleMatrix closed_form_scores(const Task& task) {
  const LinearScores learned = closed_form(task);
  DoubleMatrix scores = matrix_of(task, task.first_query(), task.queries) * learned.weights.transpose();  // [q, n]
  scores.rowwise() += learned.biases.transpose();
  return scores;
}

}  // namespace protocom
