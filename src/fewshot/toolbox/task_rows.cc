#include "fewshot/toolbox/detail/task_rows.h"

#include <numeric>
#include <vector>

#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

std::vector<float> squares_of(const Floats& vectors, int64_t n, int64_t dim) {
  std::vector<float> squares(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    squares[static_cast<size_t>(k)] = row_dot(vectors.data() + k * dim, vectors.data() + k * dim, dim);
  return squares;
}

/// Returns 1 / shots of each class, the weight of a support in its class mean, [n].
std::vector<float> shares_of_supports(const Task& task) {
  std::vector<float> shares(static_cast<size_t>(task.n));
  for (const int64_t k : task.label) shares[static_cast<size_t>(k)] += 1;
  for (float& share : shares) share = 1 / share;
  return shares;
}

}  // namespace

void compute_class_means(const Task& task, Floats& means) {
  grow(means, task.n * task.dim);
  const std::vector<float> shares = shares_of_supports(task);
  std::vector<float> weights;
  for (int64_t i = 0; i < task.supports(); i += static_cast<int64_t>(weights.size())) {
    const int64_t k = task.label[static_cast<size_t>(i)];
    weights.clear();
    for (auto j = static_cast<size_t>(i); j < task.label.size() && task.label[j] == k; ++j)
      weights.push_back(shares[static_cast<size_t>(k)]);
    const auto count = static_cast<int64_t>(weights.size());
    sums_of_rows({task.rows.data() + i, count, weights.data(), 1, count, task.dim}, means.data() + k * task.dim);
  }
}

void compute_mean_coefficients(const Task& task, int64_t stride, Floats& means) {
  means.assign(static_cast<size_t>(task.n * stride), 0.0F);
  const std::vector<float> shares = shares_of_supports(task);
  for (int64_t i = 0; i < task.supports(); ++i) {
    const int64_t k = task.label[static_cast<size_t>(i)];
    means[static_cast<size_t>(k * stride + i)] = shares[static_cast<size_t>(k)];
  }
}

void compute_mean(const Task& task, int64_t begin, int64_t end, Floats& mean) {
  const std::vector<float> shares(static_cast<size_t>(end - begin), 1.0F / static_cast<float>(end - begin));
  grow(mean, task.dim);
  sums_of_rows({task.rows.data() + begin, end - begin, shares.data(), 1, end - begin, task.dim}, mean.data());
}

void compute_negative_distances(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out) {
  const int64_t n = task.n;
  row_dots({task.rows.data() + first, count, vectors.data(), n, task.dim, n}, out);
  const std::vector<float> squares = squares_of(vectors, n, task.dim);
  for (int64_t i = 0; i < count; ++i) {
    const float square = task.squares[static_cast<size_t>(first + i)];
    for (int64_t k = 0; k < n; ++k) {
      float& value = out[i * n + k];
      value = std::min(0.0F, 2 * value - square - squares[static_cast<size_t>(k)]);
    }
  }
}

void compute_cosines(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out) {
  const int64_t n = task.n;
  row_dots({task.rows.data() + first, count, vectors.data(), n, task.dim, n}, out);
  std::vector<float> factors = squares_of(vectors, n, task.dim);
  for (float& factor : factors) factor = inverse_root(factor);
  for (int64_t i = 0; i < count; ++i) {
    const float own = inverse_root(task.squares[static_cast<size_t>(first + i)]);
    for (int64_t k = 0; k < n; ++k) out[i * n + k] *= own * factors[static_cast<size_t>(k)];
  }
}

void scale_logits(const Task& task, double factor, float* logits) {
  for (int64_t i = 0; i < task.queries * task.n; ++i) logits[i] *= static_cast<float>(factor);
}

void compute_products_with_supports(const Task& task, Floats& out) {
  const int64_t supports = task.supports();
  out.resize(static_cast<size_t>(task.queries * supports));
  products_of_rows(
      {task.rows.data() + task.first_query(), task.queries, task.rows.data(), supports, task.dim, supports},
      out.data());
}

void compute_labels(const Task& task, int64_t stride, Floats& labels) {
  labels.assign(static_cast<size_t>(task.n * stride), 0.0F);
  for (int64_t i = 0; i < task.supports(); ++i)
    labels[static_cast<size_t>(task.label[static_cast<size_t>(i)] * stride + i)] = 1;
}

void compute_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride, int64_t stride,
                    Floats& out) {
  out = labels;
  for (int64_t k = 0; k < task.n; ++k)
    std::copy_n(shares + k * shares_stride, task.unlabelled, out.data() + k * stride + task.supports());
}

void compute_means_of_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride,
                             int64_t stride, Floats& means) {
  compute_shares(task, labels, shares, shares_stride, stride, means);
  for (int64_t k = 0; k < task.n; ++k) {
    float* own = means.data() + k * stride;
    const float inverse = 1 / std::accumulate(own, own + stride, 0.0F);
    for (int64_t i = 0; i < stride; ++i) own[i] *= inverse;
  }
}

void step_towards(const Floats& next, double rate, Floats& means) {
  const auto part = static_cast<float>(rate);
  for (size_t i = 0; i < means.size(); ++i) means[i] += part * (next[i] - means[i]);
}

void compute_logits_of_queries(const Task& task, const Floats& of_points, int64_t stride, float* logits) {
  for (int64_t k = 0; k < task.n; ++k) {
    const float* own = of_points.data() + k * stride + task.first_query();
    for (int64_t i = 0; i < task.queries; ++i) logits[i * task.n + k] = own[i];
  }
}

int64_t most_shots(const Task& task) {
  std::vector<int64_t> shots(static_cast<size_t>(task.n));
  for (const int64_t k : task.label) ++shots[static_cast<size_t>(k)];
  return *std::max_element(shots.begin(), shots.end());
}

void grow(Floats& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
}

}  // namespace protocom
