#include "fewshot/toolbox/information_descent.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fewshot/toolbox/dense_layer.h"
#include "fewshot/toolbox/row_kernels.h"
#include "fewshot/toolbox/row_products.h"

namespace protocom {
namespace {

/// What the loss knows of the points of b episodes, class by class and filled up with zeros to `stride`.
struct PointTables {
  PointTables(const EpisodePoints& points, const InformationLoss& loss) {
    const at::Tensor y = points.labels.slice(1, 0, points.supports + points.unlabelled).transpose(1, 2);  // [b, n, m]
    const at::Tensor is_support = y.sum(1);                                                               // [b, m]
    stride = padded_length(y.size(2));
    const auto filled = [&](const at::Tensor& rows) {
      return at::constant_pad_nd(rows.to(at::kFloat), {0, stride - y.size(2)}).contiguous();
    };
    labels = filled(y);
    shares = filled(is_support * loss.cross_entropy / is_support.sum(1, true));
    at::Tensor each = at::zeros({y.size(2)});
    if (points.unlabelled > 0) each.slice(0, points.supports).fill_(1.0 / static_cast<double>(points.unlabelled));
    open = filled(each);
  }

  int64_t stride = 0;
  at::Tensor labels;  // [b, n, stride]
  at::Tensor shares;  // [b, stride]
  at::Tensor open;    // [stride]
};

/// Adam's steps on the class weights of one episode.
class Descent {
 public:
  /// x [m, d]; weights [n, width] where they start, filled up with zeros, and where they end.
  Descent(const at::Tensor& x, const InformationPoints& points, const InformationLoss& loss, float* weights)
      : loss_(loss), points_(points), logits_(x), gradient_(x.t()), weights_(weights) {
    const auto room = [](int64_t size) { return std::vector<float>(static_cast<size_t>(size)); };
    slopes_ = room(points.n * points.stride);
    relative_ = pull_ = first_ = second_ = room(points.n * width());
    half_squares_ = room(points.n);
    ones_.assign(static_cast<size_t>(points.stride), 1.0F);
    work_ = room((points.n + 1) * points.stride + (kRowMultiple + 1) * points.n);
    points_.work = work_.data();
  }

  [[nodiscard]] int64_t width() const { return gradient_.width(); }

  void step(const DescentOptions& options, int64_t number) {
    for (int64_t k = 0; k < points_.n; ++k)
      half_squares_[static_cast<size_t>(k)] = row_dot(row(k), row(k), width()) / 2;
    products();
    information_slopes(points_, loss_, half_squares_.data(), slopes_.data());
    pulls();
    const auto steps = static_cast<double>(number);
    AdamStep adam;
    adam.factor = static_cast<float>(loss_.temperature);
    adam.rate = static_cast<float>(options.rate / (1 - std::pow(0.9, steps)));
    adam.root_weight = static_cast<float>(std::sqrt(1 - std::pow(0.999, steps)));
    adam.dim = width();
    for (int64_t k = 0; k < points_.n; ++k) {
      adam.push = row_dot(slopes_.data() + k * points_.stride, ones_.data(), points_.stride);
      adam.pull = pull_.data() + k * width();
      adam.first = first_.data() + k * width();
      adam.second = second_.data() + k * width();
      adam_step(adam, row(k));
    }
  }

 private:
  [[nodiscard]] float* row(int64_t k) const { return weights_ + k * width(); }

  /// Products of all points with the weights, less those of the last class: a softmax knows differences only.
  void products() {
    const int64_t last = points_.n - 1;
    std::copy_n(weights_, last * width(), relative_.begin());
    for (int64_t k = 0; k < last; ++k) add_scaled_row(-1, row(last), width(), relative_.data() + k * width());
    logits_.apply(relative_.data(), width(), last, slopes_.data());
    std::fill_n(slopes_.begin() + last * points_.stride, points_.stride, 0.0F);
  }

  /// Sums of the points by their slopes, which add up to 0 over the classes.
  void pulls() {
    const int64_t last = points_.n - 1;
    gradient_.apply(slopes_.data(), points_.stride, last, pull_.data());
    float* of_last = pull_.data() + last * width();
    std::fill_n(of_last, width(), 0.0F);
    for (int64_t k = 0; k < last; ++k) add_scaled_row(-1, pull_.data() + k * width(), width(), of_last);
  }

  const InformationLoss& loss_;
  InformationPoints points_;
  DenseLayer logits_, gradient_;
  float* weights_;
  std::vector<float> slopes_, relative_, pull_, first_, second_, half_squares_, ones_, work_;
};

}  // namespace

at::Tensor euclidean_logits(const at::Tensor& points, const at::Tensor& weights, double temperature) {
  const at::Tensor half = weights.square().sum(-1).unsqueeze(1) / 2;  // [b, 1, n]
  return temperature * (inner_products(points, weights) - half);
}

at::Tensor information_descent(const EpisodePoints& points, const InformationLoss& loss,
                               const DescentOptions& options) {
  const at::Tensor x = points.learned_from(points.features).to(at::kFloat);
  const at::Tensor means = at::matmul(points.labels.transpose(1, 2), points.features) / points.shots().unsqueeze(-1);
  const int64_t b = means.size(0), n = means.size(1), d = means.size(2);
  const int64_t width = padded_length(d);
  at::Tensor weights = at::constant_pad_nd(means.to(at::kFloat), {0, width - d}).contiguous();
  const PointTables tables(points, loss);
  for (int64_t e = 0; e < b; ++e) {
    const InformationPoints episode{tables.labels[e].data_ptr<float>(), tables.shares[e].data_ptr<float>(),
                                    tables.open.data_ptr<float>(), n, tables.stride};
    Descent descent(x[e], episode, loss, weights[e].data_ptr<float>());
    for (int64_t step = 1; step <= options.steps; ++step) descent.step(options, step);
  }
  return weights.slice(2, 0, d);
}

}  // namespace protocom
