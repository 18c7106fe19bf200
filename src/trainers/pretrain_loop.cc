#include "trainers/detail/pretrain_loop.h"

#include <algorithm>

#include "base/cores.h"
#include "fewshot/methods.h"

namespace protocom {

using nlohmann::json;

json pretrain_made_by(const PackedImages& images, const PretrainRecipe& options) {
  return {{"images", images.content_hash},
          {"architecture", options.backbone.architecture},
          {"image_size", options.backbone.image_size},
          {"mean", options.backbone.mean},
          {"std", options.backbone.std},
          {"schedule", to_string(options.schedule.shape)},
          {"epochs", options.schedule.epochs},
          {"milestones", options.schedule.milestones},
          {"learning_rate", options.schedule.learning_rate},
          {"warm_up", options.schedule.warm_up},
          {"batch", options.batch},
          {"momentum", options.sgd.momentum},
          {"weight_decay", options.sgd.weight_decay},
          {"label_smoothing", options.label_smoothing},
          {"rotation", options.rotation == RotationTask::kOn},
          {"crop_padding", options.augment.crop_padding},
          {"colour_jitter", options.augment.colour_jitter},
          {"flip_probability", options.augment.flip_probability},
          {"initialisation", to_string(options.initialisation)},
          {"bias_rate", options.bias_rate},
          {"first_side", options.growth.first_side},
          {"growth_share", options.growth.share},
          {"method", to_string(options.method)},
          {"enhancing", options.cpde.enhancing},
          {"order_weight", options.cpde.order_weight},
          {"seed", options.seed}};
}

std::string validating_head(const PretrainRecipe& options) {
  if (options.method == PretrainMethod::kClassification) return "mean";
  return make_method(fmt::format("cpde:strength={}", options.cpde.enhancing))->label();
}

BatchLoaderOptions loader_options(const PretrainRecipe& options, c10::Device device, BatchContent content) {
  BatchLoaderOptions loader;
  loader.content = content;
  loader.pinned = device.is_cuda();
  loader.batch = options.batch;
  loader.augment = options.augment;
  loader.rotate = options.rotation == RotationTask::kOn ? Rotate::kYes : Rotate::kNo;
  loader.seed = options.seed;
  loader.group = options.group;
  // A CPU takes far longer to compute a batch than to prepare it; a GPU does not.
  loader.workers = options.workers > 0 ? options.workers
                   : device.is_cuda()  ? std::max(1, std::min(8, usable_cores() - 1))
                                       : 1;
  return loader;
}

EpochLoopOptions loop_options(const PretrainRecipe& options, const TrainingFiles& files, json made_by) {
  EpochLoopOptions loop;
  loop.shorter_way = "with a ready encoder there is nothing to train: protocom extract --backbone, then fit";
  loop.name = "pre-training";
  loop.schedule = options.schedule;
  loop.chosen_by = {validating_head(options)};
  loop.seed = options.seed;
  loop.files = files;
  loop.made_by = std::move(made_by);
  loop.group = options.group;
  return loop;
}

}  // namespace protocom
