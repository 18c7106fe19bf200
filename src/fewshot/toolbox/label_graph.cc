#include "fewshot/toolbox/detail/label_graph.h"

#include <algorithm>
#include <cmath>

#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom {
namespace {

/// Returns max(cosine, 0)^power for the nearest neighbours of each row, else 0.
DoubleMatrix nearest_affinities(const DoubleMatrix& cosine, const LabelGraphOptions& options) {
  const int64_t count = std::min<int64_t>(options.neighbours, cosine.cols());
  DoubleMatrix affinities = DoubleMatrix::Zero(cosine.rows(), cosine.cols());
  for (int64_t i = 0; i < cosine.rows(); ++i) {
    for (const int64_t j : places_of_largest(cosine, i, count))
      affinities(i, j) = std::pow(std::max(cosine(i, j), 0.0), options.power);
  }
  return affinities;
}

/// Returns D^-1/2 of the row sums D; 1 for a point without neighbours.
DoubleVector root_of_degree(const DoubleMatrix& affinities) {
  const DoubleVector degree = affinities.rowwise().sum();
  return degree.unaryExpr([](double sum) { return sum > 0 ? 1 / std::sqrt(sum) : 1.0; });
}

}  // namespace

LabelGraph::LabelGraph(const Task& task, const LabelGraphOptions& options) : supports_(task.supports()) {
  const DoubleMatrix x = unit_rows(matrix_of(task, 0, task.learned()));
  DoubleMatrix cosine = x * x.transpose();
  cosine.diagonal().setConstant(-1);  // no point is its own neighbour
  const DoubleMatrix directed = nearest_affinities(cosine, options);
  DoubleMatrix w = directed + directed.transpose();
  const DoubleVector root = root_of_degree(w);
  w = root.asDiagonal() * w * root.asDiagonal();
  w *= -options.alpha;
  w.diagonal().array() += 1;
  factor_.compute(w);
  if (task.first_query() < task.learned()) return;
  const DoubleMatrix query = unit_rows(matrix_of(task, task.first_query(), task.queries)) * x.transpose();
  const DoubleMatrix near = nearest_affinities(query, options);
  to_queries_ = options.alpha * (root_of_degree(near).asDiagonal() * near * root.asDiagonal());
}

DoubleMatrix LabelGraph::propagate(const DoubleMatrix& labels) const { return factor_.solve(labels).cwiseMax(0.0); }

DoubleMatrix LabelGraph::of_queries(const DoubleMatrix& f) const {
  if (to_queries_.size() > 0) return to_queries_ * f;
  return f.bottomRows(f.rows() - supports_);
}

DoubleMatrix labels_of(const Task& task) {
  DoubleMatrix labels = DoubleMatrix::Zero(task.learned(), task.n);
  labels.topRows(task.supports()) = labels_of_supports(task);
  return labels;
}

}  // namespace protocom
