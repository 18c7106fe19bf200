#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

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

at::Tensor squared_distances(const at::Tensor& rows) {
  const at::Tensor squares = (rows * rows).sum(1);
  return (squares.unsqueeze(0) + squares.unsqueeze(1) - 2.0 * at::mm(rows, rows.t())).clamp_min(0).contiguous();
}

/// Writes p(j | i) with the perplexity asked for; `self` is i.
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

/// Joint probabilities p_ij, float64 [n, n], that sum to 1.
at::Tensor joint_probabilities(const at::Tensor& rows, double perplexity) {
  const int64_t n = rows.size(0);
  const at::Tensor distance = squared_distances(rows);
  const at::Tensor p = at::empty({n, n}, at::kDouble);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      conditional_row(distance.data_ptr<double>() + i * n, p.data_ptr<double>() + i * n, n, i, perplexity);
  });
  return ((p + p.t()) / (2.0 * static_cast<double>(n))).clamp_min(kTiny).contiguous();
}

/// The map and its kernel 1 / (1 + |y_i - y_j|^2), row sums kept apart so that the result does not depend on threads.
class Descent {
 public:
  Descent(at::Tensor probabilities, at::Tensor start)
      : p_(std::move(probabilities)),
        map_(std::move(start)),
        velocity_(at::zeros_like(map_)),
        gain_(at::ones_like(map_)),
        gradient_(at::zeros_like(map_)),
        row_sum_(at::zeros({map_.size(0)}, at::kDouble)) {}

  void step(double exaggeration, double momentum, double rate) {
    kernel_sums();
    gradient(exaggeration, row_sum_.sum().item<double>());
    const at::Tensor agrees = (gradient_ * velocity_).gt(0);
    gain_ = at::where(agrees, gain_ * 0.8, gain_ + 0.2).clamp_min(0.01);
    velocity_ = momentum * velocity_ - rate * gain_ * gradient_;
    map_ += velocity_;
    map_ -= map_.mean(0);
  }

  [[nodiscard]] const at::Tensor& map() const { return map_; }

 private:
  void kernel_sums() {
    const int64_t n = map_.size(0);
    const double* y = map_.data_ptr<double>();
    double* sums = row_sum_.data_ptr<double>();
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
    const int64_t n = map_.size(0);
    const double* y = map_.data_ptr<double>();
    const double* p = p_.data_ptr<double>();
    double* out = gradient_.data_ptr<double>();
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

  at::Tensor p_;
  at::Tensor map_;
  at::Tensor velocity_;
  at::Tensor gain_;
  at::Tensor gradient_;
  at::Tensor row_sum_;
};

}  // namespace

at::Tensor tsne(const at::Tensor& rows, const TsneOptions& options) {
  const at::NoGradGuard no_grad;
  const int64_t n = rows.size(0);
  if (!(options.perplexity > 1.0 && 3.0 * options.perplexity < static_cast<double>(n)))
    fail_usage("the perplexity must lie between 1 and a third of the {} images, found {}", n, options.perplexity);
  const int64_t dim = std::min({options.pca_dim, rows.size(0), rows.size(1)});
  const at::Tensor reduced = principal_components(rows, std::max<int64_t>(dim, 2)).points;
  const at::Tensor plane = reduced.narrow(1, 0, 2);
  const double spread = std::max(plane.select(1, 0).std(true).item<double>(), kTiny);
  Descent descent(joint_probabilities(reduced, options.perplexity), (plane * (1e-4 / spread)).contiguous());
  const double rate = std::max(static_cast<double>(n) / kExaggeration / 4.0, 50.0);  // Belkina et al. 2019
  for (int64_t i = 0; i < options.iterations; ++i) {
    const bool early = i < kExaggeratedIterations;
    descent.step(early ? kExaggeration : 1.0, early ? 0.5 : 0.8, rate);
  }
  return descent.map();
}

}  // namespace protocom
