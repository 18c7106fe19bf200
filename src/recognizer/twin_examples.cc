#include "recognizer/twin_examples.h"

#include <algorithm>

#include "base/matrix.h"

namespace protocom {
namespace {

constexpr int64_t kMostImages = 5000;
constexpr size_t kMostTwins = 1000;
constexpr int64_t kRowsAtOnce = 500;

/// An image, by its class and its index there.
struct Place {
  size_t of_class = 0;
  size_t image = 0;
};

/// Returns two examples, the one enrolled first in front.
TwinExamples twins_between(const RecognizerSnapshot& snapshot, const Place& a, const Place& b, double similarity) {
  const auto id = [&](const Place& place) { return snapshot.examples[place.of_class][place.image].id; };
  const auto [first, second] = id(a) > id(b) ? std::pair(b, a) : std::pair(a, b);
  return {id(first), snapshot.enrolled.classes[first.of_class].name, id(second),
          snapshot.enrolled.classes[second.of_class].name, std::min(1.0, similarity)};
}

}  // namespace

std::vector<TwinExamples> find_twins(const RecognizerSnapshot& snapshot) {
  std::vector<Place> places;
  std::vector<Array> features;
  for (size_t k = 0; k < snapshot.examples.size(); ++k) {
    for (size_t i = 0; i < snapshot.examples[k].size(); ++i) places.push_back({k, i});
    if (!snapshot.examples[k].empty()) features.push_back(snapshot.enrolled.classes[k].features);
  }
  const auto count = static_cast<int64_t>(places.size());
  std::vector<TwinExamples> twins;
  if (count < 2 || count > kMostImages) return twins;
  const Array joined = Array::joined(features);
  const auto all = matrix_of<float>(joined);
  const Eigen::RowVectorXf mean = all.colwise().mean();
  const FloatMatrix plain = unit_rows(all), centred = unit_rows(all.rowwise() - mean);
  for (int64_t from = 0; from < count; from += kRowsAtOnce) {
    const int64_t rows = std::min(count - from, kRowsAtOnce);
    const FloatMatrix likeness = centred.middleRows(from, rows) * centred.transpose();
    const FloatMatrix cosine = plain.middleRows(from, rows) * plain.transpose();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = from + i + 1; j < count && twins.size() < kMostTwins; ++j) {
        if (likeness(i, j) > kTwinSimilarity && cosine(i, j) > kTwinCosine)
          twins.push_back(twins_between(snapshot, places[static_cast<size_t>(from + i)], places[static_cast<size_t>(j)],
                                        static_cast<double>(likeness(i, j))));
      }
    }
  }
  std::stable_sort(twins.begin(), twins.end(),
                   [](const TwinExamples& a, const TwinExamples& b) { return a.similarity > b.similarity; });
  return twins;
}

}  // namespace protocom
