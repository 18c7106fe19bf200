#include "train/pretrain_state.h"

#include "protocom/core/error.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kOptimizer = "optimizer";

json to_json(const EpochFigures& figures) {
  return {{"loss", figures.loss},
          {"correct", figures.correct},
          {"images", figures.images},
          {"seconds", figures.seconds},
          {"waited", figures.waited}};
}

EpochFigures figures_from(const json& saved) {
  EpochFigures figures;
  saved.at("loss").get_to(figures.loss);
  saved.at("correct").get_to(figures.correct);
  saved.at("images").get_to(figures.images);
  saved.at("seconds").get_to(figures.seconds);
  saved.at("waited").get_to(figures.waited);
  return figures;
}

json position_of(const PretrainState& state) {
  const PretrainResult& result = state.result;
  return {{"epoch", state.epoch},
          {"step", state.step},
          {"sums", to_json(state.figures)},
          {"best_epoch", result.best_epoch},
          {"validation_accuracy", result.validation_accuracy ? json(*result.validation_accuracy) : json(nullptr)},
          {"loss", result.loss},
          {"accuracy", result.accuracy},
          {"images_per_second", result.images_per_second}};
}

PretrainResult result_from(const json& saved) {
  PretrainResult result;
  saved.at("epoch").get_to(result.epochs);
  saved.at("best_epoch").get_to(result.best_epoch);
  saved.at("loss").get_to(result.loss);
  saved.at("accuracy").get_to(result.accuracy);
  saved.at("images_per_second").get_to(result.images_per_second);
  if (!saved.at("validation_accuracy").is_null())
    result.validation_accuracy = saved.at("validation_accuracy").get<double>();
  return result;
}

std::vector<at::Tensor> all_parameters(const PretrainState& state) {
  std::vector<at::Tensor> parameters = state.backbone->parameters();
  for (const auto& head : {state.classifier, state.rotation}) {
    for (const auto& parameter : head->parameters()) parameters.push_back(parameter);
  }
  return parameters;
}

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
  optimizer = std::make_unique<torch::optim::SGD>(all_parameters(*this),
                                                  torch::optim::SGDOptions(options.schedule.learning_rate)
                                                      .momentum(options.momentum)
                                                      .weight_decay(options.weight_decay)
                                                      .nesterov(true));
}

void PretrainState::set_learning_rate(double learning_rate) {
  for (auto& group : optimizer->param_groups())
    static_cast<torch::optim::SGDOptions&>(group.options()).lr(learning_rate);
}

void PretrainState::write_backbone(const TrainingFiles& files) const {
  protocom::write_backbone(files.out, *backbone, backbone_options, files.provenance);
}

Checkpoint PretrainState::checkpoint(const Provenance& provenance) const {
  Checkpoint saved;
  saved.header = backbone_header(*backbone, backbone_options, provenance);
  saved.artefact = backbone->state_dict();
  saved.training = heads_of(*this);
  saved.add_optimizer(kOptimizer, *optimizer);
  saved.position = position_of(*this);
  return saved;
}

void PretrainState::load(const Checkpoint& checkpoint) {
  checkpoint.load_artefact(backbone->state_dict());
  checkpoint.load_training(heads_of(*this));
  checkpoint.load_optimizer(kOptimizer, *optimizer);
  const json& saved = checkpoint.position;
  try {
    result = result_from(saved);
    epoch = result.epochs;
    step = saved.value("step", int64_t{0});  // version 0.1.0 saved at the end of epochs only
    figures = step > 0 ? figures_from(saved.at("sums")) : EpochFigures{};
  } catch (const json::exception& error) {
    fail("{} does not say where the training stands: {}", checkpoint.path.string(), error.what());
  }
}

}  // namespace protocom
