#include "fewshot/toolbox/detail/row_episode.h"

#include <algorithm>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

std::vector<float> squares_of(const Floats& vectors, int64_t n, int64_t dim) {
  std::vector<float> squares(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    squares[static_cast<size_t>(k)] = row_dot(vectors.data() + k * dim, vectors.data() + k * dim, dim);
  return squares;
}

/// What each support of a class is of its mean, [n].
std::vector<float> shares_of_supports(const RowEpisode& episode) {
  std::vector<float> shares(static_cast<size_t>(episode.n));
  for (const int64_t k : episode.label) shares[static_cast<size_t>(k)] += 1;
  for (float& share : shares) share = 1 / share;
  return shares;
}

}  // namespace

void place_class_means(const RowEpisode& episode, Floats& means) {
  grow(means, episode.n * episode.dim);
  const std::vector<float> shares = shares_of_supports(episode);
  std::vector<float> weights;
  for (int64_t i = 0; i < episode.supports(); i += static_cast<int64_t>(weights.size())) {
    const int64_t k = episode.label[static_cast<size_t>(i)];
    weights.clear();
    for (auto j = static_cast<size_t>(i); j < episode.label.size() && episode.label[j] == k; ++j)
      weights.push_back(shares[static_cast<size_t>(k)]);
    const auto count = static_cast<int64_t>(weights.size());
    sums_of_rows({episode.rows.data() + i, count, weights.data(), 1, count, episode.dim},
                 means.data() + k * episode.dim);
  }
}

void place_mean_coefficients(const RowEpisode& episode, int64_t stride, Floats& means) {
  means.assign(static_cast<size_t>(episode.n * stride), 0.0F);
  const std::vector<float> shares = shares_of_supports(episode);
  for (int64_t i = 0; i < episode.supports(); ++i) {
    const int64_t k = episode.label[static_cast<size_t>(i)];
    means[static_cast<size_t>(k * stride + i)] = shares[static_cast<size_t>(k)];
  }
}

void place_mean(const RowEpisode& episode, int64_t begin, int64_t end, Floats& mean) {
  const std::vector<float> shares(static_cast<size_t>(end - begin), 1.0F / static_cast<float>(end - begin));
  grow(mean, episode.dim);
  sums_of_rows({episode.rows.data() + begin, end - begin, shares.data(), 1, end - begin, episode.dim}, mean.data());
}

void place_negative_distances(const RowEpisode& episode, int64_t first, int64_t count, const Floats& vectors,
                              float* out) {
  const int64_t n = episode.n;
  row_dots({episode.rows.data() + first, count, vectors.data(), n, episode.dim, n}, out);
  const std::vector<float> squares = squares_of(vectors, n, episode.dim);
  for (int64_t i = 0; i < count; ++i) {
    const float square = episode.squares[static_cast<size_t>(first + i)];
    for (int64_t k = 0; k < n; ++k) {
      float& value = out[i * n + k];
      value = std::min(0.0F, 2 * value - square - squares[static_cast<size_t>(k)]);
    }
  }
}

void place_cosines(const RowEpisode& episode, int64_t first, int64_t count, const Floats& vectors, float* out) {
  const int64_t n = episode.n;
  row_dots({episode.rows.data() + first, count, vectors.data(), n, episode.dim, n}, out);
  std::vector<float> factors = squares_of(vectors, n, episode.dim);
  for (float& factor : factors) factor = inverse_root(factor);
  for (int64_t i = 0; i < count; ++i) {
    const float own = inverse_root(episode.squares[static_cast<size_t>(first + i)]);
    for (int64_t k = 0; k < n; ++k) out[i * n + k] *= own * factors[static_cast<size_t>(k)];
  }
}

void grow(Floats& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
}

}  // namespace protocom
