#include "fewshot/toolbox/neighbour_groups.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// Chosen without a search; CUB-100's base classes without their labels, two encoders (docs/log/plda.md).
constexpr int64_t kNearest = 10, kMates = 4;
constexpr size_t kFewestMates = 3;

/// Directions of the images from their mean.
at::Tensor directions_of(const at::Tensor& features) {
  const at::Tensor x = features.to(at::kFloat);
  const at::Tensor rooted = x.numel() > 0 && x.min().item<float>() >= 0 ? x.sqrt() : x;
  return unit_vectors(rooted - rooted.mean(0));
}

/// The nearest others of each image and how near they are, nearest first: [n, k] each. In pieces: n x n cosines of a
/// large collection do not fit.
std::pair<at::Tensor, at::Tensor> nearest_of(const at::Tensor& directions, int64_t k) {
  constexpr int64_t kPiece = 512;
  std::vector<at::Tensor> cosines, which;
  for (int64_t begin = 0; begin < directions.size(0); begin += kPiece) {
    const at::Tensor some = directions.slice(0, begin, begin + kPiece);
    at::Tensor cosine = at::mm(some, directions.t());
    cosine.diagonal(begin).fill_(-2);  // itself
    auto [near, index] = cosine.topk(k, 1);
    cosines.push_back(std::move(near));
    which.push_back(std::move(index));
  }
  return {at::cat(cosines), at::cat(which)};
}

/// Images that are among one another's nearest, the nearest first.
struct Mates {
  std::vector<std::vector<int64_t>> of;
  std::vector<double> nearness;  ///< mean cosine; -2 without two of them
};

Mates mates_of(const at::Tensor& cosines, const at::Tensor& which) {
  const auto near = which.accessor<int64_t, 2>();
  const auto cosine = cosines.accessor<float, 2>();
  Mates mates;
  mates.of.resize(static_cast<size_t>(which.size(0)));
  for (int64_t i = 0; i < which.size(0); ++i) {
    std::vector<int64_t>& own = mates.of[static_cast<size_t>(i)];
    double sum = 0;
    for (int64_t j = 0; j < which.size(1) && static_cast<int64_t>(own.size()) < kMates; ++j) {
      const int64_t other = near[i][j];
      bool mutual = false;
      for (int64_t back = 0; back < which.size(1); ++back) mutual = mutual || near[other][back] == i;
      if (!mutual) continue;
      own.push_back(other);
      sum += cosine[i][j];
    }
    mates.nearness.push_back(own.size() < 2 ? -2 : sum / static_cast<double>(own.size()));
  }
  return mates;
}

}  // namespace

at::Tensor neighbour_groups(const at::Tensor& features) {
  const int64_t n = features.size(0);
  at::Tensor groups = at::full({n}, -1, at::kLong);
  if (n <= kMates) return groups;
  const auto [cosines, which] = nearest_of(directions_of(features), std::min(kNearest, n - 1));
  const Mates mates = mates_of(cosines, which.contiguous());
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return mates.nearness[static_cast<size_t>(a)] > mates.nearness[static_cast<size_t>(b)];
  });
  auto* group = groups.data_ptr<int64_t>();
  int64_t made = 0;
  for (const int64_t i : order) {
    std::vector<int64_t> free = {i};
    for (const int64_t mate : mates.of[static_cast<size_t>(i)]) {
      if (group[mate] < 0) free.push_back(mate);
    }
    if (group[i] >= 0 || free.size() <= kFewestMates) continue;
    for (const int64_t image : free) group[image] = made;
    ++made;
  }
  return groups;
}

}  // namespace protocom
