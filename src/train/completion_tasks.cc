#include "completion_tasks.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "protocom/fewshot/moments.h"

namespace protocom {

CompletionTasks::CompletionTasks(const FeatureSet& features, const ClassKnowledge& classes,
                                 const CompletionModel& model, uint64_t seed)
    : features_(features),
      classes_(classes),
      model_(model),
      base_(features.classes_of(Split::kBase)),
      rows_(features.rows_by_class()),
      attributes_of_(features.class_names.size()),
      rng_(seed),
      generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  const auto class_count = static_cast<int64_t>(features.class_names.size());
  centres_ = class_moments(features.features, features.labels, class_count).mean().to(at::kFloat);
  const auto r = classes.association.accessor<float, 2>();
  for (const int64_t k : base_) {
    for (int64_t a = 0; a < r.size(1); ++a) {
      if (r[k][a] != 0) attributes_of_[static_cast<size_t>(k)].push_back(a);
    }
  }
}

CompletionBatch CompletionTasks::draw(int64_t batch, int64_t k_shot) {
  std::vector<int64_t> labels;
  std::vector<int64_t> images;
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t label = base_[static_cast<size_t>(rng_.below(static_cast<int64_t>(base_.size())))];
    const auto& rows = rows_[static_cast<size_t>(label)];
    labels.push_back(label);
    for (const int64_t pick : rng_.sample(static_cast<int64_t>(rows.size()), k_shot))
      images.push_back(rows[static_cast<size_t>(pick)]);
  }
  const at::Tensor label = at::tensor(labels, at::kLong);
  CompletionBatch task;
  task.input.prototypes =
      features_.features.index_select(0, at::tensor(images, at::kLong)).view({batch, k_shot, -1}).mean(1);  // [m, d]
  task.input.class_embedding = classes_.embedding.index_select(0, label);
  task.input.attribute_embedding = model_.attribute_embedding;
  task.target = centres_.index_select(0, label);
  draw_pairs(labels, task.input);
  return task;
}

void CompletionTasks::draw_pairs(const std::vector<int64_t>& labels, CompletionInput& input) {
  std::vector<int64_t> prototype;
  std::vector<int64_t> attribute;
  std::vector<float> weight;
  const auto r = classes_.association.accessor<float, 2>();
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const int64_t a : attributes_of_[static_cast<size_t>(labels[i])]) {
      prototype.push_back(static_cast<int64_t>(i));
      attribute.push_back(a);
      weight.push_back(r[labels[i]][a]);
    }
  }
  input.pair_prototype = at::tensor(prototype, at::kLong);
  input.pair_attribute = at::tensor(attribute, at::kLong);
  input.pair_weight = at::tensor(weight, at::kFloat);
  input.pair_feature = at::randn({static_cast<int64_t>(attribute.size()), features_.dim()}, generator_, at::kFloat);
  input.pair_feature.mul_(model_.attribute_std.index_select(0, input.pair_attribute))
      .add_(model_.attribute_mean.index_select(0, input.pair_attribute));
}

}  // namespace protocom
