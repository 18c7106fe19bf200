#include "recognizer/twin_examples.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

constexpr int64_t kMostImages = 5000;
constexpr size_t kMostTwins = 1000;
constexpr int64_t kRowsAtOnce = 500;

/// Of an image: its class and its place in it.
struct Place {
  size_t of_class = 0;
  size_t image = 0;
};

}  // namespace

std::vector<TwinExamples> find_twins(const RecognizerSnapshot& snapshot) {
  std::vector<Place> places;
  std::vector<at::Tensor> features;
  for (size_t k = 0; k < snapshot.examples.size(); ++k) {
    for (size_t i = 0; i < snapshot.examples[k].size(); ++i) places.push_back({k, i});
    if (!snapshot.examples[k].empty()) features.push_back(snapshot.enrolled.classes[k].features);
  }
  const auto count = static_cast<int64_t>(places.size());
  std::vector<TwinExamples> twins;
  if (count < 2 || count > kMostImages) return twins;
  const at::Tensor all = at::cat(features), plain = unit_vectors(all), centred = unit_vectors(all - all.mean(0, true));
  for (int64_t from = 0; from < count; from += kRowsAtOnce) {
    const int64_t to = std::min(count, from + kRowsAtOnce);
    const at::Tensor likeness = centred.slice(0, from, to).matmul(centred.t());
    const at::Tensor alike = (likeness > kTwinSimilarity)
                                 .logical_and(plain.slice(0, from, to).matmul(plain.t()) > kTwinCosine)
                                 .triu(from + 1)
                                 .nonzero()
                                 .contiguous();
    for (int64_t n = 0; n < alike.size(0) && twins.size() < kMostTwins; ++n) {
      const auto row = alike[n][0].item<int64_t>(), column = alike[n][1].item<int64_t>();
      const Place &a = places[static_cast<size_t>(from + row)], &b = places[static_cast<size_t>(column)];
      twins.push_back({snapshot.examples[a.of_class][a.image].id, snapshot.enrolled.classes[a.of_class].name,
                       snapshot.examples[b.of_class][b.image].id, snapshot.enrolled.classes[b.of_class].name,
                       std::min(1.0, likeness[row][column].item<double>())});
      if (twins.back().example > twins.back().twin) {
        std::swap(twins.back().example, twins.back().twin);
        std::swap(twins.back().class_name, twins.back().twin_class);
      }
    }
  }
  std::stable_sort(twins.begin(), twins.end(),
                   [](const TwinExamples& a, const TwinExamples& b) { return a.similarity > b.similarity; });
  return twins;
}

}  // namespace protocom
