#include "fewshot/training_tasks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr int64_t kHeldOutEvery = 4;

ClassImages by_class(const LabelledFeatures& images, const FeatureMap& map, int64_t fewest) {
  ClassImages found;
  if (!images.features.defined()) return found;
  found.features = map.map(images.features);
  std::map<int64_t, std::vector<int64_t>> rows;
  const at::Tensor labels = images.labels.contiguous();
  for (int64_t i = 0; i < labels.numel(); ++i) rows[labels.data_ptr<int64_t>()[i]].push_back(i);
  for (auto& [label, own] : rows) {
    if (static_cast<int64_t>(own.size()) < std::max<int64_t>(2, fewest)) continue;
    found.labels.push_back(label);
    found.rows.push_back(std::move(own));
  }
  return found;
}

void move_class(ClassImages& from, size_t i, ClassImages& to) {
  to.features = from.features;
  to.labels.push_back(from.labels[i]);
  to.rows.push_back(std::move(from.rows[i]));
  from.labels.erase(from.labels.begin() + static_cast<int64_t>(i));
  from.rows.erase(from.rows.begin() + static_cast<int64_t>(i));
}

}  // namespace

at::Tensor ClassImages::centres() const {
  std::vector<at::Tensor> means;
  for (const auto& own : rows) means.push_back(features.index_select(0, at::tensor(own, at::kLong)).mean(0));
  return at::stack(means);
}

TrainingClasses training_classes(const FitInputs& inputs, const FeatureMap& map, const std::string& method,
                                 int64_t fewest) {
  TrainingClasses found{by_class(inputs.base, map, fewest), by_class(inputs.val, map, fewest)};
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
  const auto rows = [&](const std::vector<int64_t>& which) {
    return classes.features.index_select(0, at::tensor(which, at::kLong));
  };
  TrainingTasks drawn;
  drawn.batch.support = rows(supports).view({shape.tasks, n, shape.shots, -1});
  drawn.batch.query = rows(asked).view({shape.tasks, n * queries, -1});
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
  return {classes.features.index_select(0, at::tensor(rows, at::kLong)), at::tensor(places, at::kLong),
          at::tensor(labels, at::kLong)};
}

at::Tensor task_loss(const at::Tensor& logits, const at::Tensor& labels) {
  return -logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).mean();
}

double task_accuracy(const at::Tensor& logits, const at::Tensor& labels) {
  return logits.argmax(-1).eq(labels).to(at::kDouble).mean().item<double>();
}

}  // namespace protocom
