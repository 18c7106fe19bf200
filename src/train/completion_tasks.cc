#include "completion_tasks.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "protocom/fewshot/toolbox/moments.h"

namespace protocom {

CompletionTasks::CompletionTasks(const FeatureSet& features, const ClassDescriptions& classes,
                                 const CompletionModel& model, uint64_t seed)
    : features_(features),
      base_(features.classes_of(Split::kBase)),
      rows_(features.rows_by_class()),
      attributes_(classes, model),
      rng_(seed),
      generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  const auto class_count = static_cast<int64_t>(features.class_names.size());
  centres_ = class_moments(features.features, features.labels, class_count).mean().to(at::kFloat);
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
  const at::Tensor prototypes =
      features_.features.index_select(0, at::tensor(images, at::kLong)).view({batch, k_shot, -1}).mean(1);  // [m, d]
  task.input = attributes_.input(prototypes, labels, generator_);
  task.target = centres_.index_select(0, label);
  return task;
}

void CompletionTasks::save(Checkpoint& checkpoint) const {
  checkpoint.add_rng("tasks_rng", rng_);
  checkpoint.add_generator("tasks_noise", generator_);
}

void CompletionTasks::load(const Checkpoint& checkpoint) {
  rng_ = checkpoint.rng("tasks_rng");
  checkpoint.load_generator("tasks_noise", generator_);
}

}  // namespace protocom
