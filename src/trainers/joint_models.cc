#include "trainers/detail/joint_models.h"

#include "distributed/tensor_sums.h"
#include "heads/moments.h"
#include "io/files.h"
#include "tensors/tensors.h"

namespace protocom {

JointModels::JointModels(const JointInputs& inputs, const MetatrainFiles& files, const ProcessGroup& group,
                         c10::Device device)
    : inputs_(inputs), files_(files), group_(group) {
  if (model() != nullptr) network_.emplace(*model());
  backbone().to(device);
  move_network(device);
}

NamedTensors JointModels::network_tensors() const {
  NamedTensors tensors;
  if (!network_) return tensors;
  for (const auto& [name, tensor] : network_->state_dict()) tensors.emplace_back("network." + name, tensor);
  return tensors;
}

void JointModels::fetch_weights() const {
  for (const auto& [name, parameter] : network_->state_dict()) {
    if (!parameter.is_cpu()) tensor_of(model()->weight(name)).copy_(parameter.detach());
  }
}

void JointModels::move_network(c10::Device device) const {
  if (!network_) return;
  fetch_weights();
  for (const auto& [name, parameter] : network_->state_dict())
    parameter.set_data(tensor_of(model()->weight(name)).to(device));
}

void JointModels::write(int64_t kept_epoch, double gamma) const {
  if (!group_.is_main()) return;
  write_file_with(files_.training.out, [&](const std::filesystem::path& written) {
    write_backbone(written, backbone(), *backbone().options(), files_.training.provenance);
    if (!writes_model()) return;
    model()->gamma = gamma;
    fetch_weights();
    // Written before the backbone replaces its file: if the disk is full, both stay unchanged.
    write_completion_model(files_.model, *model(), files_.training.provenance, {{"kept_epoch", kept_epoch}});
  });
}

void JointModels::bring_back() const {
  if (group_.is_main()) read();
  // Only process 0 has the file; the others also go on with the kept state.
  for (const auto& [name, tensor] : backbone().state_dict()) broadcast(group_, tensor);
  for (const auto& [name, tensor] : network_tensors()) broadcast(group_, tensor);
  if (model() == nullptr) return;
  const at::Tensor gamma = at::scalar_tensor(model()->gamma, at::kDouble);
  broadcast(group_, gamma);
  model()->gamma = gamma.item<double>();
}

void JointModels::set_statistics(const FeatureSet& base, const KnowledgeTable& classes) const {
  const auto count = static_cast<int64_t>(base.class_names.size());
  // Classes without images here, those of other splits, do not count.
  const Moments moments =
      attribute_moments(class_moments(tensor_of(base.features), at::tensor(base.labels, at::kLong), count),
                        tensor_of(classes.association));
  model()->attribute_mean = array_of(moments.mean().to(at::kFloat));
  model()->attribute_std = array_of(moments.std().to(at::kFloat));
}

void JointModels::read() const {
  const auto kept = read_backbone(files_.training.out, {});
  const auto from = kept->state_dict();
  const auto to = backbone().state_dict();
  for (size_t i = 0; i < to.size(); ++i) to[i].second.copy_(from[i].second);
  if (!writes_model()) return;
  const CompletionModel written = read_completion_model(files_.model);
  for (const auto& [name, array] : written.weights) tensor_of(model()->weight(name)).copy_(tensor_of(array));
  model()->gamma = written.gamma;
}

}  // namespace protocom
