#include "train/episodic_validation.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "protocom/core/error.h"
#include "protocom/core/rng.h"
#include "protocom/fewshot/cosine_classifier.h"
#include "train/image_subset.h"

namespace protocom {
namespace {

void check(const ValidationOptions& options) {
  if (options.episodes < 0 || options.n_way < 2 || options.k_shot < 1 || options.n_query < 1 || options.every < 1) {
    fail_usage(
        "validation needs episodes >= 0, n_way >= 2, k_shot >= 1, n_query >= 1 and every >= 1, found {}, {}, {}, {} "
        "and {}",
        options.episodes, options.n_way, options.k_shot, options.n_query, options.every);
  }
}

at::Tensor to_tensor(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

/// [n_way * per_class, d] -> class means [n_way, d].
at::Tensor class_means(const at::Tensor& features, int64_t n_way) {
  return features.reshape({n_way, -1, features.size(1)}).mean(1);  // [n_way, d]
}

}  // namespace

EpisodicValidation::EpisodicValidation(const PackedImages& images, const ValidationOptions& options, uint64_t seed) {
  check(options);
  if (options.episodes == 0) return;
  select(images, options.images_per_class);
  draw(options, seed);
}

void EpisodicValidation::select(const PackedImages& images, int64_t images_per_class) {
  images_ = subset(images, rows_of_split(images, Split::kVal, images_per_class));
  for (auto& rows : without_features(images_).rows_by_class()) {
    if (!rows.empty()) rows_by_class_.push_back(std::move(rows));
  }
}

void EpisodicValidation::draw(const ValidationOptions& options, uint64_t seed) {
  auto& classes = rows_by_class_;
  const auto too_small = [&](const auto& rows) { return static_cast<int64_t>(rows.size()) <= options.k_shot; };
  classes.erase(std::remove_if(classes.begin(), classes.end(), too_small), classes.end());
  if (classes.size() < 2) return;
  const auto smallest = std::min_element(classes.begin(), classes.end(),
                                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const int64_t n_query = std::min(options.n_query, static_cast<int64_t>(smallest->size()) - options.k_shot);
  n_way_ = std::min(options.n_way, static_cast<int64_t>(classes.size()));
  for (int64_t i = 0; i < options.episodes; ++i) {
    Rng rng = Rng(seed).fork(static_cast<uint64_t>(i));
    std::vector<int64_t> support, query;
    for (const int64_t label : rng.sample(static_cast<int64_t>(classes.size()), n_way_)) {
      const auto& rows = classes[static_cast<size_t>(label)];
      const auto drawn = rng.sample(static_cast<int64_t>(rows.size()), options.k_shot + n_query);
      for (size_t j = 0; j < drawn.size(); ++j) {
        auto& side = static_cast<int64_t>(j) < options.k_shot ? support : query;
        side.push_back(rows[static_cast<size_t>(drawn[j])]);
      }
    }
    episodes_.push_back({to_tensor(support), to_tensor(query)});
  }
}

EpisodicValidation::Accuracy EpisodicValidation::accuracy(const at::Tensor& features) const {
  std::vector<double> accuracies;
  for (const Episode& episode : episodes_) {
    const at::Tensor prototypes = class_means(features.index_select(0, episode.support), n_way_);
    const at::Tensor queries = features.index_select(0, episode.query);
    const at::Tensor predicted = protocom::cosine_similarity(queries, prototypes).argmax(1);  // [n_way * n_query]
    const at::Tensor truth = at::arange(n_way_, at::kLong).repeat_interleave(queries.size(0) / n_way_);
    accuracies.push_back(predicted.eq(truth).to(at::kDouble).mean().item<double>());
  }
  const at::Tensor all = at::tensor(accuracies, at::kDouble);
  const double spread = accuracies.size() > 1 ? all.std().item<double>() : 0;
  return {all.mean().item<double>(), 1.96 * spread / std::sqrt(static_cast<double>(accuracies.size()))};
}

}  // namespace protocom
