#include "serve/nearest_examples.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace protocom {
namespace {

constexpr float kTiny = 1e-12F;

/// An example by its class and its number in it.
struct Likeness {
  float similarity;
  int64_t k, i;
};

/// The cosine of `direction`, of unit length, with `feature` less the centre. Sums that the compiler can make vectors
/// of.
float cosine(const float* feature, const float* center, const float* direction, int64_t dim) {
  constexpr int64_t kLanes = 16;
  float dots[kLanes] = {}, squares[kLanes] = {};
  for (int64_t d = 0; d < dim; d += kLanes) {
    const int64_t lanes = std::min(kLanes, dim - d);
    for (int64_t l = 0; l < lanes; ++l) {
      const float moved = feature[d + l] - center[d + l];
      dots[l] += moved * direction[d + l];
      squares[l] += moved * moved;
    }
  }
  float dot = 0, square = 0;
  for (int64_t l = 0; l < kLanes; ++l) {
    dot += dots[l];
    square += squares[l];
  }
  return dot / std::max(std::sqrt(square), kTiny);
}

std::vector<NearExample> nearest_to(const RecognizerSnapshot& snapshot, const std::vector<int64_t>& classes,
                                    const at::Tensor& center, const at::Tensor& direction, int64_t most) {
  const auto* middle = center.data_ptr<float>();
  const auto* toward = direction.data_ptr<float>();
  const int64_t dim = center.numel();
  std::vector<Likeness> all;
  const int64_t looked_at = std::min(kClassesToLookAt, static_cast<int64_t>(classes.size()));
  for (int64_t c = 0; c < looked_at; ++c) {
    const int64_t k = classes[static_cast<size_t>(c)];
    const at::Tensor& features = snapshot.enrolled.classes[static_cast<size_t>(k)].features;
    if (!features.defined()) continue;
    const at::Tensor rows = features.contiguous();  // [m, d]
    const auto* next = rows.data_ptr<float>();
    for (int64_t i = 0; i < rows.size(0); ++i, next += dim) all.push_back({cosine(next, middle, toward, dim), k, i});
  }
  const auto end = all.begin() + std::min(most, static_cast<int64_t>(all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const Likeness& a, const Likeness& b) {
    return std::tie(b.similarity, a.k, a.i) < std::tie(a.similarity, b.k, b.i);
  });
  std::vector<NearExample> nearest;
  for (auto one = all.begin(); one != end; ++one) {
    const auto k = static_cast<size_t>(one->k);
    const KeptExample& example = snapshot.examples[k][static_cast<size_t>(one->i)];
    nearest.push_back({example.id, snapshot.enrolled.classes[k].name, example.source, one->similarity});
  }
  return nearest;
}

}  // namespace

std::vector<std::vector<NearExample>> nearest_examples(const RecognizerSnapshot& snapshot,
                                                       const std::vector<std::vector<int64_t>>& best,
                                                       const at::Tensor& features, int64_t most) {
  std::vector<std::vector<NearExample>> nearest(best.size());
  if (most < 1 || snapshot.feature_count == 0) return nearest;
  const at::Tensor center = (snapshot.feature_sum / snapshot.feature_count).to(at::kFloat);
  const at::Tensor moved = features.to(at::kFloat) - center;
  const at::Tensor directions = (moved / moved.norm(2, 1, /*keepdim=*/true).clamp_min(kTiny)).contiguous();
  for (size_t i = 0; i < best.size(); ++i)
    nearest[i] = nearest_to(snapshot, best[i], center, directions[static_cast<int64_t>(i)], most);
  return nearest;
}

}  // namespace protocom
