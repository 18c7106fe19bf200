#include "recognizer/photo_map.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/matrix.h"
#include "eval/analysis_distribution.h"

namespace protocom {
namespace {

constexpr int64_t kFewestMapped = 10;
constexpr double kUsualPerplexity = 30;

struct ToMap {
  std::vector<MappedPhoto> photos;
  std::vector<Array> features;  // [1, d] each
};

/// Calls `take` with every image of a snapshot and its feature.
template <typename Take>
void for_each_photo(const RecognizerSnapshot& snapshot, const Take& take) {
  for (size_t k = 0; k < snapshot.examples.size(); ++k) {
    const StoredClass& own = snapshot.enrolled.classes[k];
    for (size_t i = 0; i < snapshot.examples[k].size(); ++i)
      take({snapshot.examples[k][i].id, own.name}, own.features, static_cast<int64_t>(i));
  }
  const Array& unlabelled = snapshot.enrolled.unlabelled;
  for (int64_t i = 0; unlabelled.defined() && i < unlabelled.size(0); ++i) take({i, ""}, unlabelled, i);
}

ToMap evenly_chosen(const RecognizerSnapshot& snapshot, int64_t most) {
  int64_t count = 0;
  for_each_photo(snapshot, [&](const MappedPhoto&, const Array&, int64_t) { ++count; });
  if (count < kFewestMapped) fail("a map needs {} photos, found {}", kFewestMapped, count);
  const int64_t taken = std::min(count, most);
  ToMap chosen;
  int64_t number = 0;
  for_each_photo(snapshot, [&](const MappedPhoto& photo, const Array& features, int64_t row) {
    const int64_t before = number++;
    if (before * taken / count == number * taken / count) return;
    chosen.photos.push_back(photo);
    chosen.features.push_back(features.rows(row, row + 1));
  });
  return chosen;
}

}  // namespace

std::vector<MappedPhoto> map_photos(const RecognizerSnapshot& snapshot, int64_t most) {
  ToMap chosen = evenly_chosen(snapshot, most);
  const Array features = Array::joined(chosen.features);
  DoubleMatrix rows = matrix_of<float>(features).cast<double>();
  scale_to_unit_rows(rows);
  TsneOptions options;
  options.perplexity = std::min(kUsualPerplexity, 0.3 * static_cast<double>(rows.rows()));
  DoubleMatrix places = tsne(rows, options);
  const Eigen::RowVectorXd least = places.colwise().minCoeff();
  places.rowwise() -= least;
  const double longest = std::max(places.maxCoeff(), 1e-12);
  for (size_t i = 0; i < chosen.photos.size(); ++i) {
    chosen.photos[i].x = places(static_cast<int64_t>(i), 0) / longest;
    chosen.photos[i].y = places(static_cast<int64_t>(i), 1) / longest;
  }
  return std::move(chosen.photos);
}

std::vector<SimilarPhoto> similar_photos(const RecognizerSnapshot& snapshot, const Array& like, int64_t most) {
  const Eigen::RowVectorXf direction = matrix_of<float>(like.reshaped({1, like.numel()})).row(0);
  const float length = direction.norm();
  std::vector<SimilarPhoto> found;
  for_each_photo(snapshot, [&](const MappedPhoto& photo, const Array& features, int64_t row) {
    const auto own = matrix_of<float>(features).row(row);
    const float lengths = std::max(own.norm() * length, std::numeric_limits<float>::min());
    found.push_back({photo.example, photo.class_name, std::clamp(own.dot(direction) / lengths, -1.0F, 1.0F)});
  });
  const auto end = found.begin() + std::min(most, static_cast<int64_t>(found.size()));
  std::partial_sort(found.begin(), end, found.end(),
                    [](const SimilarPhoto& a, const SimilarPhoto& b) { return a.similarity > b.similarity; });
  found.erase(end, found.end());
  return found;
}

}  // namespace protocom
