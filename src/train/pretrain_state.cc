#include "train/pretrain_state.h"

#include "train/epoch_loop.h"

namespace protocom {
namespace {

NamedTensors heads_of(const PretrainState& state) {
  return {{"classifier.weight", state.classifier->weight},
          {"classifier.bias", state.classifier->bias},
          {"rotation.weight", state.rotation->weight},
          {"rotation.bias", state.rotation->bias}};
}

}  // namespace

PretrainState::PretrainState(const PretrainOptions& options, int64_t classes, c10::Device device)
    : backbone_options(options.backbone) {
  torch::manual_seed(options.seed);
  backbone = make_backbone(options.backbone);
  classifier = torch::nn::Linear(backbone->dim(), classes);
  rotation = torch::nn::Linear(backbone->dim(), 4);
  backbone->to(device);
  classifier->to(device);
  rotation->to(device);
  optimizer = make_optimizer(learned_parameters(RotationTask::kOn), options.sgd);
}

std::vector<at::Tensor> PretrainState::learned_parameters(RotationTask rotations) const {
  std::vector<at::Tensor> parameters = backbone->parameters();
  const auto add = [&](const torch::nn::Linear& head) {
    for (const at::Tensor& parameter : head->parameters()) parameters.push_back(parameter);
  };
  add(classifier);
  if (rotations == RotationTask::kOn) add(rotation);
  return parameters;
}

void PretrainState::write_backbone(const TrainingFiles& files) const {
  protocom::write_backbone(files.out, *backbone, backbone_options, files.provenance);
}

Checkpoint PretrainState::checkpoint(const Provenance& provenance) const {
  Checkpoint saved;
  saved.header = backbone_header(*backbone, backbone_options, provenance);
  saved.artefact = backbone->state_dict();
  saved.training = heads_of(*this);
  return saved;
}

void PretrainState::load(const Checkpoint& checkpoint) {
  checkpoint.load_artefact(backbone->state_dict());
  checkpoint.load_training(heads_of(*this));
}

}  // namespace protocom
