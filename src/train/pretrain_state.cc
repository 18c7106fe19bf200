#include "train/pretrain_state.h"

#include <sstream>

#include "protocom/core/error.h"

namespace protocom {
namespace {

using nlohmann::json;

std::string member(const std::string& name) { return kTrainingPrefix + name; }

json to_json(const PretrainState& state, const std::string& made_by) {
  const PretrainResult& result = state.result;
  return {{"made_by", json::parse(made_by)},
          {"epoch", state.epoch},
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

/// The first option that two trainings differ in, for the message.
std::string first_difference(const json& before, const json& now) {
  for (const auto& [name, value] : now.items()) {
    if (!before.contains(name) || before[name] != value) {
      return name + " was " + (before.contains(name) ? before[name].dump() : "not there") + ", is " + value.dump();
    }
  }
  return "it has options that this version does not know";
}

std::vector<at::Tensor> all_parameters(const PretrainState& state) {
  std::vector<at::Tensor> parameters = state.backbone->parameters();
  for (const auto& head : {state.classifier, state.rotation}) {
    for (const auto& parameter : head->parameters()) parameters.push_back(parameter);
  }
  return parameters;
}

std::vector<std::pair<std::string, at::Tensor>> heads_of(const PretrainState& state) {
  return {{"classifier.weight", state.classifier->weight},
          {"classifier.bias", state.classifier->bias},
          {"rotation.weight", state.rotation->weight},
          {"rotation.bias", state.rotation->bias}};
}

void restore(const NpzReader& reader, const std::string& name, at::Tensor target) {
  const at::Tensor saved = reader.tensor(name);
  if (saved.sizes() != target.sizes()) fail("{}: entry '{}' does not fit this training", reader.path().string(), name);
  target.copy_(saved);
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

void PretrainState::write_backbone(const PretrainFiles& files) const {
  protocom::write_backbone(files.best, *backbone, backbone_options, files.provenance);
}

void PretrainState::write(const PretrainFiles& files, const std::string& made_by) const {
  NpzWriter writer(files.last());
  add_backbone(writer, *backbone, backbone_options, files.provenance);
  for (const auto& [name, tensor] : heads_of(*this)) writer.add(member(name), tensor);
  std::ostringstream momentum;
  torch::save(*optimizer, momentum);
  writer.add_bytes(member("optimizer"), momentum.str());
  writer.add_bytes(member("state.json"), to_json(*this, made_by).dump(2));
  writer.close();
}

void PretrainState::load(const std::filesystem::path& path, const std::string& made_by) {
  const NpzReader reader(path);
  const std::string state_member = member("state.json");
  if (!reader.has(state_member))
    fail("{} is not a training to go on with (no member '{}')", path.string(), state_member);
  const json saved = json::parse(reader.bytes(state_member), nullptr, false);
  const json now = json::parse(made_by);
  if (!saved.is_object()) fail("{}: member '{}' is not valid JSON", path.string(), state_member);
  if (saved.at("made_by") != now) {
    fail("{} comes from another training ({}): start without --resume, or write elsewhere", path.string(),
         first_difference(saved.at("made_by"), now));
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, target] : backbone->state_dict()) restore(reader, name, target);
  for (const auto& [name, target] : heads_of(*this)) restore(reader, member(name), target);
  std::istringstream momentum(reader.bytes(member("optimizer")));
  torch::load(*optimizer, momentum);
  result = result_from(saved);
  epoch = result.epochs;
}

std::string fingerprint(const PretrainOptions& options, const PackedImages& images) {
  const json fields = {{"images", images.content_hash},
                       {"architecture", options.backbone.architecture},
                       {"image_size", options.backbone.image_size},
                       {"mean", options.backbone.mean},
                       {"std", options.backbone.std},
                       {"schedule", to_string(options.schedule.shape)},
                       {"epochs", options.schedule.epochs},
                       {"milestones", options.schedule.milestones},
                       {"learning_rate", options.schedule.learning_rate},
                       {"batch", options.batch},
                       {"momentum", options.momentum},
                       {"weight_decay", options.weight_decay},
                       {"label_smoothing", options.label_smoothing},
                       {"rotation", options.rotation == RotationTask::kOn},
                       {"crop_padding", options.augment.crop_padding},
                       {"colour_jitter", options.augment.colour_jitter},
                       {"flip_probability", options.augment.flip_probability},
                       {"seed", options.seed}};
  return fields.dump();
}

}  // namespace protocom
