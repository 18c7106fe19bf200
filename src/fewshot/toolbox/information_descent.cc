#include "fewshot/toolbox/detail/information_descent.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {
namespace {

/// What the loss knows of the points of an episode, class by class and filled up with zeros to `stride`.
class PointTables {
 public:
  /// `labels` [n, points]: the weight of a support in its class, else 0; the first `supports` points may have one.
  PointTables(const Floats& labels, int64_t n, int64_t supports, const InformationLoss& loss)
      : points_(static_cast<int64_t>(labels.size()) / n), stride_(padded_length(points_)), n_(n) {
    labels_.assign(static_cast<size_t>(n * stride_), 0.0F);
    shares_.assign(static_cast<size_t>(stride_), 0.0F);
    open_ = shares_;
    for (int64_t k = 0; k < n; ++k) {
      const float* own = labels.data() + k * points_;
      std::copy_n(own, points_, labels_.data() + k * stride_);
      for (int64_t i = 0; i < points_; ++i) shares_[static_cast<size_t>(i)] += own[i];
    }
    const float total = std::accumulate(shares_.begin(), shares_.end(), 0.0F);
    for (float& share : shares_) share *= static_cast<float>(loss.cross_entropy) / total;
    std::fill(open_.begin() + supports, open_.begin() + points_, 1.0F / static_cast<float>(points_ - supports));
  }

  /// With work of n tables still to come.
  [[nodiscard]] InformationPoints points() const { return {labels_.data(), shares_.data(), open_.data(), n_, stride_}; }

 private:
  int64_t points_, stride_, n_;
  Floats labels_;  // [n, stride]
  Floats shares_;  // [stride]
  Floats open_;    // [stride]
};

/// Adam's steps on the class weights of one episode.
class Descent {
 public:
  /// rows [m] of `width` floats; weights [n, width] where they start.
  Descent(const float* const* rows, int64_t count, int64_t width, const InformationPoints& points,
          const InformationLoss& loss, const float* weights)
      : loss_(loss),
        points_(points),
        rows_(rows),
        count_(count),
        width_(width),
        weights_(weights, weights + points.n * width) {
    const auto room = [](int64_t size) { return Floats(static_cast<size_t>(size)); };
    slopes_ = room(points.n * points.stride);
    relative_ = pull_ = first_ = second_ = room(points.n * width_);
    for (int64_t k = 0; k + 1 < points.n; ++k) relative_rows_.push_back(relative_.data() + k * width_);
    half_squares_ = room(points.n);
    ones_.assign(static_cast<size_t>(points.stride), 1.0F);
    work_ = room((points.n + 1) * points.stride + (kRowMultiple + 1) * points.n);
    points_.work = work_.data();
  }

  /// Weights [n, width] where they are after these steps, to `weights`.
  void run(const DescentOptions& options, float* weights) {
    for (int64_t number = 1; number <= options.steps; ++number) step(options, number);
    std::copy(weights_.begin(), weights_.end(), weights);
  }

 private:
  void step(const DescentOptions& options, int64_t number) {
    for (int64_t k = 0; k < points_.n; ++k) half_squares_[static_cast<size_t>(k)] = row_dot(row(k), row(k), width_) / 2;
    products();
    information_slopes(points_, loss_, half_squares_.data(), slopes_.data());
    pulls();
    AdamStep adam = adam_at(number, options.rate, width_);
    adam.factor = static_cast<float>(loss_.temperature);
    for (int64_t k = 0; k < points_.n; ++k) {
      adam.push = row_dot(slopes_.data() + k * points_.stride, ones_.data(), points_.stride);
      adam.pull = pull_.data() + k * width_;
      adam.first = first_.data() + k * width_;
      adam.second = second_.data() + k * width_;
      adam_step(adam, row(k));
    }
  }

  [[nodiscard]] float* row(int64_t k) { return weights_.data() + k * width_; }

  /// Products of all points with the weights, less those of the last class: a softmax knows differences only.
  void products() {
    const int64_t last = points_.n - 1;
    std::copy_n(weights_.begin(), last * width_, relative_.begin());
    for (int64_t k = 0; k < last; ++k) add_scaled_row(-1, row(last), width_, relative_.data() + k * width_);
    products_of_rows({relative_rows_.data(), last, rows_, count_, width_, points_.stride}, slopes_.data());
    std::fill_n(slopes_.begin() + last * points_.stride, points_.stride, 0.0F);
  }

  /// Sums of the points by their slopes, which add up to 0 over the classes.
  void pulls() {
    const int64_t last = points_.n - 1;
    sums_of_rows({rows_, count_, slopes_.data(), last, points_.stride, width_}, pull_.data());
    float* of_last = pull_.data() + last * width_;
    std::fill_n(of_last, width_, 0.0F);
    for (int64_t k = 0; k < last; ++k) add_scaled_row(-1, pull_.data() + k * width_, width_, of_last);
  }

  const InformationLoss& loss_;
  InformationPoints points_;
  const float* const* rows_;
  int64_t count_, width_;
  Floats weights_;                           // [n, width]
  std::vector<const float*> relative_rows_;  // [n - 1]
  Floats slopes_, relative_, pull_, first_, second_, half_squares_, ones_, work_;
};

}  // namespace

void InformationDescent::answer(const Task& task, const InformationLoss& loss, const DescentOptions& options,
                                float* logits) {
  const int64_t n = task.n, dim = task.dim, learned = task.learned();
  labels_.assign(static_cast<size_t>(n * learned), 0.0F);
  for (int64_t i = 0; i < task.supports(); ++i)
    labels_[static_cast<size_t>(task.label[static_cast<size_t>(i)] * learned + i)] = 1;
  const PointTables tables(labels_, n, task.supports(), loss);
  place_class_means(task, weights_);
  Descent(task.rows.data(), learned, dim, tables.points(), loss, weights_.data()).run(options, weights_.data());
  place_negative_distances(task, task.first_query(), task.queries, weights_, logits);
  const auto factor = static_cast<float>(loss.temperature / 2);
  for (int64_t i = 0; i < task.queries; ++i) {
    const float square = task.squares[static_cast<size_t>(task.first_query() + i)];
    for (int64_t k = 0; k < n; ++k) logits[i * n + k] = factor * (logits[i * n + k] + square);
  }
}

}  // namespace protocom
