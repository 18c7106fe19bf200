#include "trainers/detail/pretrain_state.h"

#include <map>
#include <string>

#include "base/error.h"
#include "trainers/detail/epoch_loop.h"
#include "trainers/detail/split_orders.h"

namespace protocom {
namespace {

NamedTensors heads_of(const PretrainState& state) {
  if (state.cpde) return state.cpde->named();
  return {{"classifier.weight", state.classifier->weight},
          {"classifier.bias", state.classifier->bias},
          {"rotation.weight", state.rotation->weight},
          {"rotation.bias", state.rotation->bias}};
}

/// Returns the number of channels of the feature maps of an image's splits.
int64_t split_channels(Backbone& backbone, int64_t image_size) {
  constexpr int64_t kHalvings = 4;  // the fewest of all architectures whose state dict is our own
  const int64_t side = split_side(image_size);
  if (side >> kHalvings < 1)
    fail_usage("CPDE needs images of at least {0} x {0} pixels, whose quarters the backbone can take, found {1} x {1}",
               2 << kHalvings, image_size);
  const torch::NoGradGuard no_grad;
  return backbone.forward_maps(at::zeros({1, 3, side, side})).size(1);
}

}  // namespace

PretrainState::PretrainState(const PretrainRecipe& options, int64_t classes, c10::Device device)
    : backbone_options(options.backbone), cpde_options(options.cpde) {
  torch::manual_seed(options.seed);
  backbone = make_backbone(options.backbone);
  classifier = torch::nn::Linear(backbone->dim(), classes);
  rotation = torch::nn::Linear(backbone->dim(), 4);
  if (options.method == PretrainMethod::kCpde) {
    const int64_t channels = split_channels(*backbone, options.backbone.image_size);
    cpde = std::make_unique<CpdeHeads>(backbone->dim(), channels, classes);
    cpde->to(device);
  }
  backbone->to(device);
  classifier->to(device);
  rotation->to(device);
  optimizer = make_optimizer(learned_parameters(RotationTask::kOn), options.sgd);
}

std::vector<at::Tensor> PretrainState::learned_parameters(RotationTask rotations) const {
  std::vector<at::Tensor> parameters = backbone->parameters();
  if (cpde) {
    for (const at::Tensor& parameter : cpde->parameters()) parameters.push_back(parameter);
    return parameters;
  }
  const auto add = [&](const torch::nn::Linear& head) {
    for (const at::Tensor& parameter : head->parameters()) parameters.push_back(parameter);
  };
  add(classifier);
  if (rotations == RotationTask::kOn) add(rotation);
  return parameters;
}

std::vector<at::Tensor> PretrainState::biases() const {
  const auto entries = backbone->state_dict();
  const std::map<std::string, at::Tensor> tensors(entries.begin(), entries.end());
  std::vector<at::Tensor> found;
  for (const auto& [name, tensor] : tensors) {
    const size_t end = name.rfind(".running_mean");
    if (end != std::string::npos) found.push_back(tensors.at(name.substr(0, end) + ".bias"));
  }
  return found;
}

at::Tensor PretrainState::logits(const at::Tensor& features) {
  return cpde ? cpde_logits(features, *cpde, cpde_options.enhancing) : classifier(features);
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
