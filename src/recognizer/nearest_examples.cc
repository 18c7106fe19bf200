#include "recognizer/detail/nearest_examples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// Points of more enrolled images than that are made anew for each question: they take as much room as features.
constexpr int64_t kMostKept = 50'000;

/// An example by its class and its number in it.
struct Likeness {
  float similarity;
  int64_t k, i;
};

/// Points of features [n, d].
at::Tensor points_in(const RecognizerSnapshot& snapshot, const ClassScorer& scorer, const at::Tensor& features) {
  const at::Tensor points = scorer.points(features);
  if (points.defined()) return unit_vectors(points).contiguous();
  const at::Tensor mean = (snapshot.feature_sum / snapshot.feature_count).to(at::kFloat);
  return unit_vectors(features.to(at::kFloat) - mean).contiguous();
}

std::vector<NearImage> examples_of(const RecognizerSnapshot& snapshot, std::vector<Likeness> all, int64_t most) {
  const auto end = all.begin() + std::min(most, static_cast<int64_t>(all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const Likeness& a, const Likeness& b) {
    return std::tie(b.similarity, a.k, a.i) < std::tie(a.similarity, b.k, b.i);
  });
  std::vector<NearImage> nearest;
  for (auto item = all.begin(); item != end; ++item) {
    const auto k = static_cast<size_t>(item->k);
    const KeptExample& example = snapshot.examples[k][static_cast<size_t>(item->i)];
    nearest.push_back({example.id, snapshot.enrolled.classes[k].name, example.source, item->similarity});
  }
  return nearest;
}

}  // namespace

void NearestExamples::update(const ClassScorer& scorer, const std::vector<int64_t>& before) {
  std::vector<at::Tensor> kept(before.size());
  kept_rows_ = 0;
  for (size_t i = 0; i < before.size() && !scorer.adapts(); ++i) {
    const auto was = static_cast<size_t>(before[i]);
    if (before[i] < 0 || was >= kept_.size() || !kept_[was].defined()) continue;
    kept[i] = kept_[was];
    kept_rows_ += kept[i].size(0);
  }
  kept_ = std::move(kept);
}

at::Tensor NearestExamples::points_of(const RecognizerSnapshot& snapshot, const ClassScorer& scorer, int64_t k) {
  at::Tensor& kept = kept_[static_cast<size_t>(k)];
  if (kept.defined()) return kept;
  const at::Tensor& features = snapshot.enrolled.classes[static_cast<size_t>(k)].features;
  const at::Tensor points = points_in(snapshot, scorer, features);
  // Where the method does not say, points depend on all images, and are had without a product of matrices.
  const bool lasts = scorer.points(features.slice(0, 0, 0)).defined();
  if (!lasts || kept_rows_ + points.size(0) > kMostKept) return points;
  kept_rows_ += points.size(0);
  kept = points;
  return points;
}

std::vector<std::vector<NearImage>> NearestExamples::find(const RecognizerSnapshot& snapshot, const ClassScorer& scorer,
                                                          const std::vector<std::vector<int64_t>>& best,
                                                          const at::Tensor& features, int64_t most) {
  std::vector<std::vector<NearImage>> nearest(best.size());
  if (most < 1 || snapshot.feature_count == 0) return nearest;
  const at::Tensor directions = points_in(snapshot, scorer, features);
  for (size_t row = 0; row < best.size(); ++row) {
    const at::Tensor direction = directions[static_cast<int64_t>(row)];
    std::vector<Likeness> all;
    const int64_t looked_at = std::min(kClassesToLookAt, static_cast<int64_t>(best[row].size()));
    for (int64_t c = 0; c < looked_at; ++c) {
      const int64_t k = best[row][static_cast<size_t>(c)];
      const at::Tensor& own = snapshot.enrolled.classes[static_cast<size_t>(k)].features;
      if (!own.defined() || own.size(0) == 0) continue;
      const at::Tensor similar = at::mv(points_of(snapshot, scorer, k), direction).contiguous();
      for (int64_t i = 0; i < similar.size(0); ++i) all.push_back({similar.data_ptr<float>()[i], k, i});
    }
    nearest[row] = examples_of(snapshot, std::move(all), most);
  }
  return nearest;
}

std::string note_on_nearest(const RecognizerSnapshot& snapshot, const std::string& answer,
                            const std::vector<NearImage>& nearest) {
  if (nearest.empty() || nearest.front().class_name == answer) return "";
  const StoredClass* own = snapshot.enrolled.find(answer);
  if (own == nullptr) return "";
  const std::string other = excerpt(nearest.front().class_name), name = excerpt(answer);
  if (own->count == 0) return fmt::format("{} has no photo and is known by its description", name);
  if (own->count == 1) return fmt::format("one photo of {} is nearer, its photos together are not", other);
  return fmt::format("one photo of {} is nearer, but the {} photos of {} together are", other, own->count, name);
}

}  // namespace protocom
