#include "fewshot/toolbox/detail/information_descent.h"

#include <cmath>
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

float squared_distance(const float* x, const Eigen::RowVectorXf& w) {
  return (Eigen::Map<const Eigen::RowVectorXf>(x, w.size()) - w).squaredNorm();
}

/// Turns products x.w [n, m] of points with weights [n, dim] into distances |x - w|.
void to_distances(const std::vector<const float*>& points, const FloatMatrix& weights, FloatMatrix& products) {
  // |x|^2 + |w|^2 - 2 x.w has no correct digits for a point near a class's weights.
  constexpr float kNear = 1e-3F;
  for (int64_t i = 0; i < products.cols(); ++i) {
    const float* x = points[static_cast<size_t>(i)];
    const float length = Eigen::Map<const Eigen::RowVectorXf>(x, weights.cols()).squaredNorm();
    for (int64_t k = 0; k < products.rows(); ++k) {
      const float sum = length + weights.row(k).squaredNorm();
      const float square = sum - 2 * products(k, i);
      products(k, i) = std::sqrt(square > kNear * sum ? square : squared_distance(x, weights.row(k)));
    }
  }
}

/// Logits of points, and their derivatives in the class weights.
class Logits {
 public:
  Logits(LogitForm form, double temperature, const FloatMatrix& weights)
      : form_(form), temperature_(static_cast<float>(temperature)), weights_(weights) {
    for (int64_t k = 0; k < weights.rows(); ++k) rows_.push_back(weights.row(k).data());
  }

  /// Computes logits [n, m] of points [m, dim].
  void compute(const std::vector<const float*>& points, FloatMatrix& logits) {
    const auto n = static_cast<int64_t>(rows_.size()), m = static_cast<int64_t>(points.size());
    logits.resize(n, m);
    products_of_rows({rows_.data(), n, points.data(), m, weights_.cols(), m}, logits.data());
    if (form_ == LogitForm::kEuclidean) {
      const Eigen::VectorXf half_squares = weights_.rowwise().squaredNorm() / 2;
      logits.colwise() -= half_squares;
    } else if (form_ == LogitForm::kCosine) {
      logits.array().colwise() /= weights_.rowwise().norm().array();
    } else {
      to_distances(points, weights_, logits);
      distances_ = logits;
      logits = -logits;
    }
    logits *= temperature_;
  }

  /// Returns the gradient [n, dim] from the derivatives `slopes` [n, m] in the logits of those points, which it
  /// changes.
  FloatMatrix gradient(const std::vector<const float*>& points, FloatMatrix& slopes) {
    const auto n = static_cast<int64_t>(rows_.size()), m = static_cast<int64_t>(points.size());
    // A distance of 0 has no derivative: that point does not move the weights.
    if (form_ == LogitForm::kDistance) slopes = (distances_.array() > 0).select(slopes.cwiseQuotient(distances_), 0);
    pull_.resize(n, weights_.cols());
    sums_of_rows({points.data(), m, slopes.data(), n, m, weights_.cols()}, pull_.data());
    if (form_ == LogitForm::kCosine) {
      const Eigen::VectorXf lengths = weights_.rowwise().norm();
      const Eigen::VectorXf along = pull_.cwiseProduct(weights_).rowwise().sum().cwiseQuotient(lengths.cwiseAbs2());
      return temperature_ * lengths.cwiseInverse().asDiagonal() * (pull_ - along.asDiagonal() * weights_);
    }
    const Eigen::VectorXf push = slopes.rowwise().sum();
    return temperature_ * (pull_ - push.asDiagonal() * weights_);
  }

 private:
  LogitForm form_;
  float temperature_;
  const FloatMatrix& weights_;  // [n, dim]
  std::vector<const float*> rows_;
  FloatMatrix distances_, pull_;  // [n, m], [n, dim]
};

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
  const int64_t n = task.n, dim = task.dim;
  const FloatMatrix labels = labels_of_supports(task).cast<float>().transpose();  // [n, s]
  Floats means;
  compute_class_means(task, means);
  FloatMatrix weights = Eigen::Map<const FloatMatrix>(means.data(), n, dim);
  const auto points = [&](int64_t begin, int64_t count) {
    return std::vector<const float*>(task.rows.data() + begin, task.rows.data() + begin + count);
  };
  const std::vector<const float*> learned = points(0, task.learned());
  Logits of_classes(options.form, loss.temperature, weights);
  FloatMatrix slopes;
  Adam adam(options.rate);
  for (int64_t step = 0; step < options.steps; ++step) {
    of_classes.compute(learned, slopes);
    information_slopes(loss, labels, slopes);
    adam.step(of_classes.gradient(learned, slopes), weights);
  }
  FloatMatrix answers;
  of_classes.compute(points(task.first_query(), task.queries), answers);
  matrix_at(logits, task) = answers.transpose();
}

}  // namespace protocom
