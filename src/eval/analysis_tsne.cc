#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "eval/analysis_distribution.h"

namespace protocom {
namespace {

constexpr double kTiny = 1e-12;
constexpr int64_t kExaggeratedIterations = 150;
constexpr double kExaggeration = 12.0;
constexpr int64_t kGrain = 16;

DoubleMatrix squared_distances(const DoubleMatrix& rows) {
  const DoubleVector squares = rows.rowwise().squaredNorm();
  DoubleMatrix distances = -2 * rows * rows.transpose();
  distances.colwise() += squares;
  distances.rowwise() += squares.transpose();
  return distances.cwiseMax(0);
}

/// Computes p(j | i) with the requested perplexity; `self` is i.
void conditional_row(const double* distance, double* p, int64_t n, int64_t self, double perplexity) {
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
  double beta = 1.0;
  const double nearest = [&] {
    double least = std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < n; ++j) least = j == self ? least : std::min(least, distance[j]);
    return least;
  }();
  for (int step = 0; step < 60; ++step) {
    double sum = 0.0;
    double weighted = 0.0;
    for (int64_t j = 0; j < n; ++j) {
      p[j] = j == self ? 0.0 : std::exp(-beta * (distance[j] - nearest));
      sum += p[j];
      weighted += p[j] * (distance[j] - nearest);
    }
    const double entropy = std::log(sum) + beta * weighted / sum;
    for (int64_t j = 0; j < n; ++j) p[j] /= sum;
    const double gap = entropy - std::log(perplexity);
    if (std::abs(gap) < 1e-5) return;
    (gap > 0.0 ? low : high) = beta;
    beta = std::isinf(high) ? beta * 2.0 : 0.5 * (low + high);
  }
}

/// Returns joint probabilities p_ij, [n, n], that sum to 1.
DoubleMatrix joint_probabilities(const DoubleMatrix& rows, double perplexity) {
  const int64_t n = rows.rows();
  const DoubleMatrix distance = squared_distances(rows);
  DoubleMatrix p(n, n);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) conditional_row(distance.row(i).data(), p.row(i).data(), n, i, perplexity);
  });
  return ((p + p.transpose()) / (2.0 * static_cast<double>(n))).cwiseMax(kTiny);
}

/// The map and its kernel 1 / (1 + |y_i - y_j|^2); row sums are kept separately so that the result does not depend on
/// threads.
class Descent {
 public:
  Descent(DoubleMatrix probabilities, DoubleMatrix start)
      : p_(std::move(probabilities)),
        map_(std::move(start)),
        velocity_(DoubleMatrix::Zero(map_.rows(), 2)),
        gain_(DoubleMatrix::Ones(map_.rows(), 2)),
        gradient_(DoubleMatrix::Zero(map_.rows(), 2)),
        row_sum_(DoubleVector::Zero(map_.rows())) {}

  void step(double exaggeration, double momentum, double rate) {
    kernel_sums();
    gradient(exaggeration, row_sum_.sum());
    for (int64_t i = 0; i < gain_.size(); ++i) {
      double& gain = gain_.data()[i];
      const bool agrees = gradient_.data()[i] * velocity_.data()[i] > 0;
      gain = std::max(agrees ? gain * 0.8 : gain + 0.2, 0.01);
    }
    velocity_ = momentum * velocity_ - rate * gain_.cwiseProduct(gradient_);
    map_ += velocity_;
    const Eigen::RowVectorXd centre = map_.colwise().mean();
    map_.rowwise() -= centre;
  }

  [[nodiscard]] const DoubleMatrix& map() const { return map_; }

 private:
  void kernel_sums() {
    const int64_t n = map_.rows();
    const double* y = map_.data();
    double* sums = row_sum_.data();
    parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = -1.0;  // the kernel of i with itself
        for (int64_t j = 0; j < n; ++j) {
          const double dx = y[2 * i] - y[2 * j];
          const double dy = y[2 * i + 1] - y[2 * j + 1];
          sum += 1.0 / (1.0 + dx * dx + dy * dy);
        }
        sums[i] = sum;
      }
    });
  }

  void gradient(double exaggeration, double total) {
    const int64_t n = map_.rows();
    const double* y = map_.data();
    const double* p = p_.data();
    double* out = gradient_.data();
    parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double gx = 0.0;
        double gy = 0.0;
        for (int64_t j = 0; j < n; ++j) {
          const double dx = y[2 * i] - y[2 * j];
          const double dy = y[2 * i + 1] - y[2 * j + 1];
          const double kernel = 1.0 / (1.0 + dx * dx + dy * dy);
          const double force = (exaggeration * p[i * n + j] - kernel / total) * kernel;
          gx += force * dx;
          gy += force * dy;
        }
        out[2 * i] = 4.0 * gx;
        out[2 * i + 1] = 4.0 * gy;
      }
    });
  }

  DoubleMatrix p_;                                 // [n, n]
  DoubleMatrix map_, velocity_, gain_, gradient_;  // [n, 2]
  DoubleVector row_sum_;                           // [n]
};

}  // namespace

DoubleMatrix tsne(const DoubleMatrix& rows, const TsneOptions& options) {
  const int64_t n = rows.rows();
  if (!(options.perplexity > 1.0 && 3.0 * options.perplexity < static_cast<double>(n)))
    fail_usage("perplexity: expected more than 1 and less than a third of the {} images, found {}", n,
               options.perplexity);
  const int64_t dim = std::min({options.pca_dim, rows.rows(), rows.cols()});
  const DoubleMatrix reduced = principal_components(rows, std::max<int64_t>(dim, 2)).points;
  const double squares = reduced.col(0).squaredNorm() / static_cast<double>(n - 1);  // centred
  const double spread = std::max(std::sqrt(squares), kTiny);
  Descent descent(joint_probabilities(reduced, options.perplexity), reduced.leftCols(2) * (1e-4 / spread));
  const double rate = std::max(static_cast<double>(n) / kExaggeration / 4.0, 50.0);  // Belkina et al. 2019
  for (int64_t i = 0; i < options.iterations; ++i) {
    const bool early = i < kExaggeratedIterations;
    descent.step(early ? kExaggeration : 1.0, early ? 0.5 : 0.8, rate);
  }
  return descent.map();
}

}  // namespace protocom
