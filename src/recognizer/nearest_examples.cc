#include "recognizer/detail/nearest_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/matrix.h"

namespace protocom {
namespace {

/// Above this number of enrolled images, points are recomputed for each call: they take as much space as features.
constexpr int64_t kMostKept = 50'000;

/// An example, by its class and its index there.
struct Likeness {
  float similarity;
  int64_t k, i;
};

/// Returns the points of features [n, d].
FloatMatrix points_in(const RecognizerSnapshot& snapshot, const ClassScorer& scorer, const Array& features) {
  if (const auto points = scorer.points(features)) return unit_rows(*points);
  const Eigen::Map<const Eigen::RowVectorXd> sum(snapshot.feature_sum.data(), features.size(1));
  const Eigen::RowVectorXf mean = (sum / static_cast<double>(snapshot.feature_count)).cast<float>();
  return unit_rows(matrix_of<float>(features).rowwise() - mean);
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
  std::vector<std::shared_ptr<const FloatMatrix>> kept(before.size());
  kept_rows_ = 0;
  for (size_t i = 0; i < before.size() && !scorer.adapts(); ++i) {
    const auto was = static_cast<size_t>(before[i]);
    if (before[i] < 0 || was >= kept_.size() || kept_[was] == nullptr) continue;
    kept[i] = kept_[was];
    kept_rows_ += kept[i]->rows();
  }
  kept_ = std::move(kept);
}

std::shared_ptr<const FloatMatrix> NearestExamples::points_of(const RecognizerSnapshot& snapshot,
                                                              const ClassScorer& scorer, int64_t k) {
  std::shared_ptr<const FloatMatrix>& kept = kept_[static_cast<size_t>(k)];
  if (kept != nullptr) return kept;
  const Array& features = snapshot.enrolled.classes[static_cast<size_t>(k)].features;
  auto points = std::make_shared<const FloatMatrix>(points_in(snapshot, scorer, features));
  // If the method defines no points, they depend on all images, so they are not kept; they need no matrix product.
  const bool lasts = scorer.points(features.rows(0, 0)).has_value();
  if (!lasts || kept_rows_ + points->rows() > kMostKept) return points;
  kept_rows_ += points->rows();
  kept = points;
  return points;
}

std::vector<std::vector<NearImage>> NearestExamples::find(const RecognizerSnapshot& snapshot, const ClassScorer& scorer,
                                                          const std::vector<std::vector<int64_t>>& best,
                                                          const Array& features, int64_t most) {
  std::vector<std::vector<NearImage>> nearest(best.size());
  if (most < 1 || snapshot.feature_count == 0) return nearest;
  const FloatMatrix directions = points_in(snapshot, scorer, features);
  for (size_t row = 0; row < best.size(); ++row) {
    std::vector<Likeness> all;
    const int64_t looked_at = std::min(kClassesToLookAt, static_cast<int64_t>(best[row].size()));
    for (int64_t c = 0; c < looked_at; ++c) {
      const int64_t k = best[row][static_cast<size_t>(c)];
      const Array& own = snapshot.enrolled.classes[static_cast<size_t>(k)].features;
      if (!own.defined() || own.size(0) == 0) continue;
      const Eigen::VectorXf similar =
          *points_of(snapshot, scorer, k) * directions.row(static_cast<int64_t>(row)).transpose();
      for (int64_t i = 0; i < similar.size(); ++i) all.push_back({similar[i], k, i});
    }
    nearest[row] = examples_of(snapshot, std::move(all), most);
  }
  return nearest;
}

std::string note_on_nearest(const StoredClass& answer, const std::vector<NearImage>& nearest) {
  if (nearest.empty() || nearest.front().class_name == answer.name) return "";
  const std::string other = excerpt(nearest.front().class_name), name = excerpt(answer.name);
  if (answer.count == 0) return fmt::format("{} has no photo and is known by its description", name);
  if (answer.count == 1)
    return fmt::format("the nearest photo is of {}; the photo and the description of {} together fit better", other,
                       name);
  return fmt::format("the nearest photo is of {}; all {} of {} together fit better", other, answer.count, name);
}

}  // namespace protocom
