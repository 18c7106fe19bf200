#include "fewshot/toolbox/detail/information_descent.h"

#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/adam.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {
namespace {

/// Returns the derivative of the entropy in probabilities, given their logarithms, up to a term that all classes share.
FloatMatrix entropy_slopes(const FloatMatrix& log_p, double alpha) {
  constexpr float kMost = 87.0F;  // e to a larger power would overflow
  if (alpha == 1) return -log_p;
  const auto power = static_cast<float>(alpha - 1);
  return -static_cast<float>(alpha) / power * (power * log_p.array()).min(kMost).exp();
}

/// Turns products x.w [n, m] with weights [n, dim] into temperature (x.w - |w|^2 / 2).
void to_logits(const FloatMatrix& weights, double temperature, FloatMatrix& products) {
  const Eigen::VectorXf half_squares = weights.rowwise().squaredNorm() / 2;
  products.colwise() -= half_squares;
  products *= static_cast<float>(temperature);
}

}  // namespace

void information_slopes(const InformationLoss& loss, const FloatMatrix& labels, FloatMatrix& logits) {
  constexpr float kTiny = 1e-12F;
  const int64_t s = labels.cols(), u = logits.cols() - s;
  const Eigen::RowVectorXf most = logits.colwise().maxCoeff();
  logits.rowwise() -= most;
  FloatMatrix p = logits.array().exp();
  const Eigen::RowVectorXf totals = p.colwise().sum();
  p.array().rowwise() /= totals.array();
  logits.leftCols(s) = static_cast<float>(loss.cross_entropy) / labels.sum() * residuals(labels, p.leftCols(s));
  const auto open = p.rightCols(u);
  const FloatMatrix log_p = logits.rightCols(u).rowwise() - totals.tail(u).array().log().matrix();
  const FloatMatrix log_means = ((open.rowwise().sum() / static_cast<float>(u)).array() + kTiny).log();
  const Eigen::VectorXf of_means = static_cast<float>(loss.marginal) * entropy_slopes(log_means, loss.alpha);
  FloatMatrix slopes = static_cast<float>(loss.conditional) * entropy_slopes(log_p, loss.alpha);
  slopes.colwise() -= of_means;
  const Eigen::RowVectorXf inner = open.cwiseProduct(slopes).colwise().sum();
  slopes.rowwise() -= inner;
  logits.rightCols(u) = open.cwiseProduct(slopes) / static_cast<float>(u);
}

void answer_by_information(const Task& task, const InformationLoss& loss, const DescentOptions& options,
                           float* logits) {
  const int64_t n = task.n, dim = task.dim, learned = task.learned();
  const FloatMatrix labels = labels_of_supports(task).cast<float>().transpose();  // [n, s]
  Floats means;
  compute_class_means(task, means);
  FloatMatrix weights = Eigen::Map<const FloatMatrix>(means.data(), n, dim);
  FloatMatrix slopes(n, learned), pull(n, dim);
  std::vector<const float*> rows;
  for (int64_t k = 0; k < n; ++k) rows.push_back(weights.row(k).data());
  Adam adam(options.rate);
  for (int64_t step = 0; step < options.steps; ++step) {
    products_of_rows({rows.data(), n, task.rows.data(), learned, dim, learned}, slopes.data());
    to_logits(weights, loss.temperature, slopes);
    information_slopes(loss, labels, slopes);
    sums_of_rows({task.rows.data(), learned, slopes.data(), n, learned, dim}, pull.data());
    const Eigen::VectorXf push = slopes.rowwise().sum();
    adam.step(static_cast<float>(loss.temperature) * (pull - push.asDiagonal() * weights), weights);
  }
  FloatMatrix answers(n, task.queries);
  products_of_rows({rows.data(), n, task.rows.data() + task.first_query(), task.queries, dim, task.queries},
                   answers.data());
  to_logits(weights, loss.temperature, answers);
  matrix_at(logits, task) = answers.transpose();
}

}  // namespace protocom
