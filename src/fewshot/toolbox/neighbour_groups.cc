#include "fewshot/toolbox/neighbour_groups.h"

#include <algorithm>
#include <numeric>

namespace protocom {
namespace {

/// Chosen without a search on CUB-100's base classes without their labels, two encoders (docs/log/plda.md).
constexpr int64_t kNearest = 10, kMates = 4;
constexpr size_t kFewestMates = 3;

/// Returns the unit directions of the images from their mean.
FloatMatrix directions_of(const FloatMatrix& features) {
  FloatMatrix rows = features;
  if (rows.size() > 0 && rows.minCoeff() >= 0) rows = rows.cwiseSqrt();
  const Eigen::RowVectorXf mean = rows.cast<double>().colwise().mean().cast<float>();
  rows.rowwise() -= mean;
  scale_to_unit_rows(rows);
  return rows;
}

/// Another image and its cosine.
struct Near {
  float cosine = 0;
  int64_t image = 0;
};

/// Returns the `k` nearest other images of each image, nearest first. Works in blocks: n x n cosines of a large
/// collection do not fit into memory.
std::vector<std::vector<Near>> nearest_of(const FloatMatrix& directions, int64_t k) {
  constexpr int64_t kPiece = 512;
  const int64_t n = directions.rows();
  std::vector<std::vector<Near>> nearest;
  std::vector<Near> others;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t count = std::min(kPiece, n - begin);
    FloatMatrix cosines(count, n);
    cosines.noalias() = directions.middleRows(begin, count) * directions.transpose();
    for (int64_t i = 0; i < count; ++i) {
      others.clear();
      for (int64_t j = 0; j < n; ++j) {
        if (j != begin + i) others.push_back({cosines(i, j), j});
      }
      const auto nearer = [](const Near& a, const Near& b) { return a.cosine > b.cosine; };
      std::partial_sort(others.begin(), others.begin() + k, others.end(), nearer);
      nearest.emplace_back(others.begin(), others.begin() + k);
    }
  }
  return nearest;
}

/// Mutual nearest neighbours of each image, nearest first.
struct Mates {
  std::vector<std::vector<int64_t>> of;
  std::vector<double> nearness;  ///< mean cosine; -2 with fewer than two
};

Mates find_mates(const std::vector<std::vector<Near>>& nearest) {
  Mates mates;
  mates.of.resize(nearest.size());
  for (size_t i = 0; i < nearest.size(); ++i) {
    std::vector<int64_t>& own = mates.of[i];
    double sum = 0;
    for (const Near& near : nearest[i]) {
      if (static_cast<int64_t>(own.size()) == kMates) break;
      const std::vector<Near>& back = nearest[static_cast<size_t>(near.image)];
      const bool mutual = std::any_of(back.begin(), back.end(),
                                      [&](const Near& other) { return other.image == static_cast<int64_t>(i); });
      if (!mutual) continue;
      own.push_back(near.image);
      sum += near.cosine;
    }
    mates.nearness.push_back(own.size() < 2 ? -2 : sum / static_cast<double>(own.size()));
  }
  return mates;
}

}  // namespace

std::vector<int64_t> neighbour_groups(const FloatMatrix& features) {
  const int64_t n = features.rows();
  std::vector<int64_t> group(static_cast<size_t>(n), -1);
  if (n <= kMates) return group;
  const Mates mates = find_mates(nearest_of(directions_of(features), std::min(kNearest, n - 1)));
  std::vector<size_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return mates.nearness[a] > mates.nearness[b]; });
  int64_t made = 0;
  for (const size_t i : order) {
    std::vector<size_t> free = {i};
    for (const int64_t mate : mates.of[i]) {
      if (group[static_cast<size_t>(mate)] < 0) free.push_back(static_cast<size_t>(mate));
    }
    if (group[i] >= 0 || free.size() <= kFewestMates) continue;
    for (const size_t image : free) group[image] = made;
    ++made;
  }
  return group;
}

}  // namespace protocom
