#include "heads/detail/training_tasks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "heads/batch_method.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr int64_t kHeldOutEvery = 4;

/// Groups images with these labels by class; `places` are their rows among the features.
ClassImages by_class(const at::Tensor& features, const std::vector<int64_t>& labels, const std::vector<int64_t>& places,
                     int64_t fewest) {
  ClassImages found;
  found.features = features;
  std::map<int64_t, std::vector<int64_t>> rows;
  for (size_t i = 0; i < labels.size(); ++i) rows[labels[i]].push_back(places[i]);
  for (auto& [label, own] : rows) {
    if (static_cast<int64_t>(own.size()) < std::max<int64_t>(2, fewest)) continue;
    found.labels.push_back(label);
    found.rows.push_back(std::move(own));
  }
  return found;
}

ClassImages by_class(const LabelledFeatures& images, const FeatureTransform* map, int64_t fewest) {
  if (!images.features.defined()) return {};
  std::vector<int64_t> places(images.labels.size());
  std::iota(places.begin(), places.end(), 0);
  const at::Tensor features = tensor_of(images.features);
  return by_class(map == nullptr ? features : mapped_tensor(*map, features), images.labels, places, fewest);
}

void move_class(ClassImages& from, size_t i, ClassImages& to) {
  to.features = from.features;
  to.labels.push_back(from.labels[i]);
  to.rows.push_back(std::move(from.rows[i]));
  from.labels.erase(from.labels.begin() + static_cast<int64_t>(i));
  from.rows.erase(from.rows.begin() + static_cast<int64_t>(i));
}

TrainingClasses with_held_out(TrainingClasses found, const std::string& method, int64_t fewest) {
  if (found.train.classes() < 2)
    fail("'{}' is fitted on at least 2 base classes of {} images, found {}", method, std::max<int64_t>(2, fewest),
         found.train.classes());
  if (found.held_out.classes() >= 2) return found;
  found.held_out = {};
  if (found.train.classes() < kHeldOutEvery) return found;
  const auto of_four = static_cast<size_t>(std::max<int64_t>(2, found.train.classes() / kHeldOutEvery));
  for (size_t i = 0; i < of_four; ++i)
    move_class(found.train, (i + 1) * (kHeldOutEvery - 1) % found.train.labels.size(), found.held_out);
  return found;
}

/// Returns float32 [rows.size(), d].
at::Tensor images_at(const ClassImages& classes, const std::vector<int64_t>& rows) {
  return classes.features.index_select(0, at::tensor(rows, at::kLong)).to(at::kFloat);
}

}  // namespace

at::Tensor ClassImages::centres() const {
  std::vector<at::Tensor> means;
  for (const auto& own : rows) means.push_back(images_at(*this, own).mean(0));
  return at::stack(means);
}

TrainingClasses training_classes(const FitInputs& inputs, const FeatureTransform* map, const std::string& method,
                                 int64_t fewest) {
  return with_held_out({by_class(inputs.base, map, fewest), by_class(inputs.val, map, fewest)}, method, fewest);
}

TrainingClasses training_maps(const FitInputs& inputs, const std::string& method, int64_t fewest) {
  if (!inputs.maps.maps.defined()) fail_usage("'{}' needs {}", method, to_string(Need::kFeatureMaps));
  const at::Tensor maps = tensor_of(inputs.maps.maps).flatten(1);
  TrainingClasses found{by_class(maps, inputs.base.labels, inputs.maps.base, fewest), {}};
  if (!inputs.maps.val.empty()) found.held_out = by_class(maps, inputs.val.labels, inputs.maps.val, fewest);
  return with_held_out(std::move(found), method, fewest);
}

ClassImages mapped_images(const ClassImages& classes, const std::function<at::Tensor(const at::Tensor&)>& map) {
  constexpr size_t kAtOnce = 256;
  ClassImages found;
  found.labels = classes.labels;
  std::vector<int64_t> rows;
  for (const auto& own : classes.rows) {
    found.rows.emplace_back(own.size());
    std::iota(found.rows.back().begin(), found.rows.back().end(), static_cast<int64_t>(rows.size()));
    rows.insert(rows.end(), own.begin(), own.end());
  }
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < rows.size(); i += kAtOnce)
    parts.push_back(map(images_at(classes, {rows.begin() + i, rows.begin() + std::min(i + kAtOnce, rows.size())})));
  found.features = at::cat(parts);
  return found;
}

TrainingTasks draw_training_tasks(const ClassImages& classes, const TrainingTaskShape& shape, Rng& rng) {
  const int64_t n = std::min(shape.ways, classes.classes());
  int64_t queries = shape.queries;
  for (const auto& own : classes.rows) queries = std::min(queries, static_cast<int64_t>(own.size()) - shape.shots);
  std::vector<int64_t> supports;
  std::vector<int64_t> asked;
  std::vector<int64_t> labels;
  for (int64_t task = 0; task < shape.tasks; ++task) {
    for (const int64_t k : rng.sample(classes.classes(), n)) {
      const auto& own = classes.rows[static_cast<size_t>(k)];
      labels.push_back(classes.labels[static_cast<size_t>(k)]);
      const auto picked = rng.sample(static_cast<int64_t>(own.size()), shape.shots + queries);
      for (size_t i = 0; i < picked.size(); ++i)
        (static_cast<int64_t>(i) < shape.shots ? supports : asked).push_back(own[static_cast<size_t>(picked[i])]);
    }
  }
  TrainingTasks drawn;
  drawn.batch.support = images_at(classes, supports).view({shape.tasks, n, shape.shots, -1});
  drawn.batch.query = images_at(classes, asked).view({shape.tasks, n * queries, -1});
  drawn.batch.classes = at::tensor(labels, at::kLong).view({shape.tasks, n});
  drawn.labels = at::arange(n, at::kLong).repeat_interleave(queries).expand({shape.tasks, n * queries});
  return drawn;
}

ImageDraw draw_images(const ClassImages& classes, int64_t count, Rng& rng) {
  std::vector<int64_t> rows;
  std::vector<int64_t> places;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<size_t>(rng.below(classes.classes()));
    const auto& own = classes.rows[place];
    rows.push_back(own[static_cast<size_t>(rng.below(static_cast<int64_t>(own.size())))]);
    places.push_back(static_cast<int64_t>(place));
    labels.push_back(classes.labels[place]);
  }
  return {images_at(classes, rows), at::tensor(places, at::kLong), at::tensor(labels, at::kLong)};
}

at::Tensor task_loss(const at::Tensor& logits, const at::Tensor& labels) {
  return -logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).mean();
}

double task_accuracy(const at::Tensor& logits, const at::Tensor& labels) {
  return logits.argmax(-1).eq(labels).to(at::kDouble).mean().item<double>();
}

double accuracy_on_tasks(const ClassImages& classes, const TrainingTaskShape& shape, int64_t rounds,
                         const std::function<at::Tensor(const EpisodeBatch&)>& logits) {
  constexpr uint64_t kSeed = 20210620;
  Rng rng(kSeed);
  double sum = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    const TrainingTasks tasks = draw_training_tasks(classes, shape, rng);
    sum += task_accuracy(logits(tasks.batch), tasks.labels);
  }
  return sum / static_cast<double>(rounds);
}

}  // namespace protocom
