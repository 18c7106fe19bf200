#include "train/detail/metatrain_options.h"

#include "base/enum_words.h"
#include "base/error.h"

namespace protocom {
namespace {

constexpr EnumWord<BatchNormStatistics> kBatchNormStatistics[] = {{BatchNormStatistics::kRunning, "running"},
                                                                  {BatchNormStatistics::kBatch, "batch"}};
constexpr EnumWord<AttributeStatistics> kAttributeStatistics[] = {{AttributeStatistics::kRecomputed, "recomputed"},
                                                                  {AttributeStatistics::kKept, "kept"}};

}  // namespace

using nlohmann::json;

void check_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options) {
  if (options.schedule.epochs < 1 || options.batches < 1 || options.episodes < 1)
    fail_usage("epochs, batches and episodes must be at least 1");
  const EpisodeShape& shape = options.episode;
  if (shape.n_way < 2 || shape.k_shot < 1 || shape.n_query < 1)
    fail_usage("an episode needs at least 2 ways, 1 shot and 1 query, found {}, {} and {}", shape.n_way, shape.k_shot,
               shape.n_query);
  if (!(options.scale > 0)) fail_usage("the scale must be above 0, found {}", options.scale);
  if (!inputs.backbone.options())
    fail(
        "a TorchScript or ONNX backbone cannot be tuned, as it cannot be written back: give its state dict (npz, "
        "safetensors)");
  if (!make_method(options.head)->spec().has(Need::kCompletionModel)) return;
  if (inputs.model == nullptr || inputs.knowledge == nullptr)
    fail_usage("the head '{}' needs a completion model and knowledge", options.head);
  const int64_t expected = inputs.model->sizes.feature_dim;
  if (expected != inputs.backbone.dim())
    fail("the model completes features of {} dimensions, the backbone gives {}", expected, inputs.backbone.dim());
}

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

BatchNormStatistics parse_batch_norm_statistics(std::string_view text) {
  return value_of(kBatchNormStatistics, text, "batch-norm statistics");
}

std::string_view to_string(BatchNormStatistics statistics) { return word_of(kBatchNormStatistics, statistics); }

AttributeStatistics parse_attribute_statistics(std::string_view text) {
  return value_of(kAttributeStatistics, text, "attribute statistics");
}

std::string_view to_string(AttributeStatistics statistics) { return word_of(kAttributeStatistics, statistics); }

}  // namespace protocom
