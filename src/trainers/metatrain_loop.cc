#include "trainers/detail/metatrain_loop.h"

#include "fewshot/methods.h"

namespace protocom {

using nlohmann::json;

json metatrain_made_by(const PackedImages& images, const MetatrainOptions& options, const Provenance& provenance) {
  const auto shape = [](const EpisodeShape& episode_shape) {
    return json{episode_shape.n_way, episode_shape.k_shot, episode_shape.n_query};
  };
  const AugmentOptions& augment = options.augment;
  return {{"images", images.content_hash},
          {"inputs", provenance.inputs},
          {"head", options.head},
          {"episode", shape(options.episode)},
          {"episodes", options.episodes},
          {"batches", options.batches},
          {"epochs", options.schedule.epochs},
          {"schedule", to_string(options.schedule.shape)},
          {"milestones", options.schedule.milestones},
          {"learning_rate", options.schedule.learning_rate},
          {"momentum", options.sgd.momentum},
          {"weight_decay", options.sgd.weight_decay},
          {"gamma", options.scale},
          {"batch_norm", to_string(options.batch_norm)},
          {"augment", {augment.crop_padding, augment.colour_jitter, augment.flip_probability}},
          {"validation", shape(options.validation.shape)},
          {"validation_episodes", options.validation.episodes},
          {"validation_images", options.validation.images_per_class},
          {"validation_every", options.validation.every},
          {"seed", options.seed}};
}

EpochLoopOptions loop_options(const MetatrainOptions& options, const MetatrainFiles& files, json made_by) {
  EpochLoopOptions loop;
  loop.name = "meta-training";
  loop.schedule = options.schedule;
  loop.steps = options.batches;
  loop.chosen_by = {make_method(options.head)->label()};
  loop.start = StartCounts::kYes;
  loop.seed = options.seed;
  loop.files = files.training;
  loop.made_by = std::move(made_by);
  loop.group = options.group;
  return loop;
}

}  // namespace protocom
