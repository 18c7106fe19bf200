#include "report/detail/likeness.h"

#include <algorithm>
#include <utility>

namespace protocom {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix symmetric(const Matrix& likeness) {
  const size_t n = likeness.size();
  Matrix both(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) both[i][j] = std::max(0.0, likeness[i][j]) + std::max(0.0, likeness[j][i]);
  }
  return both;
}

/// Returns the most similar pair of clusters; the first of several.
std::pair<size_t, size_t> most_alike(const Matrix& likeness) {
  std::pair<size_t, size_t> best{0, 1};
  for (size_t i = 0; i < likeness.size(); ++i) {
    for (size_t j = i + 1; j < likeness.size(); ++j) {
      if (likeness[i][j] > likeness[best.first][best.second]) best = {i, j};
    }
  }
  return best;
}

/// Joins two rows, each reversed if necessary so that their most similar ends meet.
std::vector<size_t> joined(std::vector<size_t> a, std::vector<size_t> b, const Matrix& likeness) {
  const double back_front = likeness[a.back()][b.front()];
  const double back_back = likeness[a.back()][b.back()];
  const double front_front = likeness[a.front()][b.front()];
  const double front_back = likeness[a.front()][b.back()];
  const double best = std::max({back_front, back_back, front_front, front_back});
  if (best == back_back && best > back_front) {
    std::reverse(b.begin(), b.end());
  } else if (best == front_front && best > back_front) {
    std::reverse(a.begin(), a.end());
  } else if (best == front_back && best > back_front) {
    std::swap(a, b);
  }
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::vector<size_t> order_by_likeness(const Matrix& likeness) {
  const Matrix rows = symmetric(likeness);
  Matrix between = rows;  // mean similarity between clusters
  std::vector<std::vector<size_t>> clusters;
  for (size_t i = 0; i < rows.size(); ++i) clusters.push_back({i});
  while (clusters.size() > 1) {
    const auto [i, j] = most_alike(between);
    const auto a = static_cast<double>(clusters[i].size());
    const auto b = static_cast<double>(clusters[j].size());
    clusters[i] = joined(std::move(clusters[i]), std::move(clusters[j]), rows);
    for (size_t k = 0; k < clusters.size(); ++k) {
      if (k == i || k == j) continue;
      between[i][k] = (a * between[i][k] + b * between[j][k]) / (a + b);
      between[k][i] = between[i][k];
    }
    const auto gone = static_cast<std::ptrdiff_t>(j);
    clusters.erase(clusters.begin() + gone);
    between.erase(between.begin() + gone);
    for (std::vector<double>& row : between) row.erase(row.begin() + gone);
  }
  return clusters.empty() ? std::vector<size_t>{} : clusters.front();
}

}  // namespace protocom
