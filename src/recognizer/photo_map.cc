#include "recognizer/photo_map.h"

#include <algorithm>

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

ToMap evenly_chosen(const RecognizerSnapshot& snapshot, int64_t most) {
  int64_t count = 0;
  for (const auto& examples : snapshot.examples) count += static_cast<int64_t>(examples.size());
  if (count < kFewestMapped) fail("a map needs {} photos, found {}", kFewestMapped, count);
  const int64_t taken = std::min(count, most);
  ToMap chosen;
  int64_t number = 0;
  for (size_t k = 0; k < snapshot.examples.size(); ++k) {
    const StoredClass& own = snapshot.enrolled.classes[k];
    for (size_t i = 0; i < snapshot.examples[k].size(); ++i, ++number) {
      if (number * taken / count == (number + 1) * taken / count) continue;
      chosen.photos.push_back({snapshot.examples[k][i].id, own.name});
      chosen.features.push_back(own.features.rows(static_cast<int64_t>(i), static_cast<int64_t>(i) + 1));
    }
  }
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

}  // namespace protocom
