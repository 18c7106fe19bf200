#include "training/metatrain.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "datasets/episodes.h"
#include "encoders/extract.h"
#include "fewshot/align_knowledge.h"
#include "io/files.h"
#include "networks/device_precision.h"
#include "networks/torch_encoder.h"
#include "tensors/device.h"
#include "tensors/tensors.h"
#include "trainers/detail/augment_batch.h"
#include "trainers/detail/epoch_loop.h"
#include "trainers/detail/gradient_buckets.h"
#include "trainers/detail/image_subset.h"
#include "trainers/detail/joint_head.h"
#include "trainers/detail/joint_models.h"
#include "trainers/detail/metatrain_loop.h"
#include "trainers/detail/together.h"
#include "trainers/detail/trainings.h"
#include "trainers/detail/validation_episodes.h"

namespace protocom {
namespace {

/// Loss and accuracy of an episode.
struct EpisodeOutcome {
  at::Tensor loss;      ///< mean cross-entropy of the queries (equation 5), differentiable
  at::Tensor accuracy;  ///< of the queries, float64 in [0, 1]
};

using nlohmann::json;

/// Returns the record of an epoch that ended with this scale (gamma).
MetatrainEpoch epoch_of(const EpochEnd& end, double scale) {
  MetatrainEpoch epoch{end.epoch, 0, 0, scale, {}};
  if (end.epoch > 0) {
    epoch.loss = end.sums.mean_loss();
    epoch.accuracy = end.sums.accuracy();
  }
  for (const MethodScores& scores : end.validation)
    epoch.validation.push_back({scores.method, estimate(scores.accuracy)});
  return epoch;
}

/// Converts an epoch to and from its form in the log and in checkpoints.
json to_json(const MetatrainEpoch& epoch) {
  json line = {{"epoch", epoch.epoch},
               {"loss", epoch.loss},
               {"accuracy", epoch.accuracy},
               {"scale", epoch.scale},
               {"validation", json::object()}};
  line["methods"] = json::array();  // an object would not keep their order
  for (const ValidationRow& row : epoch.validation) {
    line["methods"].push_back(row.method);
    line["validation"][row.method] = {{"accuracy", row.accuracy.value}, {"ci95", row.accuracy.ci95}};
  }
  return line;
}

MetatrainEpoch epoch_from(const json& line) {
  MetatrainEpoch epoch{line.at("epoch"), line.at("loss"), line.at("accuracy"), line.at("scale"), {}};
  for (const json& method : line.at("methods")) {
    const json& row = line.at("validation").at(method.get<std::string>());
    epoch.validation.push_back({method, {row.at("accuracy"), row.at("ci95")}});
  }
  return epoch;
}

constexpr const char* kEpochs = "epochs";

std::optional<KnowledgeTable> aligned(const JointInputs& inputs) {
  if (inputs.model == nullptr) return std::nullopt;
  return align_knowledge(*inputs.knowledge, inputs.images.class_names, inputs.model->attributes);
}

class MetaTrainer : public Trainer {
 public:
  MetaTrainer(const JointInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
              Progress& progress)
      : images_(inputs.images),
        base_(without_features(images_)),
        options_(options),
        group_(*options.group),
        files_(files),
        progress_(progress),
        device_(parse_device(device_of(group_, options.device))),
        precision_(resolve_precision(options.precision, device_)),
        classes_(aligned(inputs)),
        models_(inputs, files, group_, device_),
        head_(options.head, {inputs.model, models_.network(), classes()}, options.scale),
        validation_(images_, options.validation, options.seed) {
    head_.scale().set_data(head_.scale().data().to(device_));
    std::vector<at::Tensor> parameters = models_.backbone().parameters();
    for (const at::Tensor& parameter : head_.parameters()) parameters.push_back(parameter);
    optimizer_ = make_optimizer(parameters, options.sgd);
    buckets_ = std::make_unique<GradientBuckets>(parameters, group_);
    check_divides(options.episodes, "episodes of a step", group_);
    if (group_.is_main() && !files_.model.empty()) check_writable(files_.model);
    logger().info("episodes of {} ways, {} shots and {} queries, {} per step, {} on {}", options_.episode.n_way,
                  options_.episode.k_shot, options_.episode.n_query, options_.episodes, to_string(precision_),
                  device_.str());
  }

  std::vector<MetatrainEpoch> take_epochs() { return std::move(epochs_); }

  torch::optim::SGD& optimizer() override { return *optimizer_; }

  void begin_epoch(const Place& place) override {
    models_.backbone().set_mode(options_.batch_norm == BatchNormStatistics::kBatch ? BackboneMode::kTrain
                                                                                   : BackboneMode::kTune);
    rng_ = Rng(options_.seed).fork(static_cast<uint64_t>(place.epoch));
    list_ = sample_episodes(base_,
                            {Split::kBase, options_.episode, options_.batches * options_.episodes, Rng(rng_).next()});
  }

  at::Tensor learn(const Place& place) override {
    const auto [begin, end] = group_.share(options_.episodes);
    const auto count = static_cast<double>(end - begin);
    at::Tensor sums = at::zeros({3}, at::TensorOptions(at::kDouble).device(device_));
    const at::Tensor tensor = at::ones({}, sums.options());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t episode = place.step * options_.episodes + i;
      // Averages over this process's episodes; the last backward averages over the processes.
      const EpisodeOutcome outcome =
          run_episode(list_.episodes[static_cast<size_t>(episode)], rng_.fork(static_cast<uint64_t>(episode)));
      sums += at::stack({outcome.loss.detach().to(at::kDouble), outcome.accuracy, tensor});
      if (i + 1 < end) {
        (outcome.loss / count).backward();
      } else {
        buckets_->backward(outcome.loss / count);
      }
    }
    return sums;
  }

  [[nodiscard]] std::string describe(const EpochSums& sums) const override {
    return fmt::format("loss {:.3f}  accuracy {:.1f} %", sums.mean_loss(), 100 * sums.accuracy());
  }

  [[nodiscard]] int64_t validates_every() const override { return validation_.every(); }

  std::vector<MethodScores> validate(Progress& progress) override {
    ExtractOptions extract = extract_options();
    extract.precision = precision_;
    // Episodes are evaluated on the CPU.
    models_.move_network(c10::kCPU);
    auto scores = validation_.run(models_.backbone(), extract,
                                  {models_.model(), classes(), make_method(options_.head)->label()}, progress);
    models_.move_network(device_);
    return scores;
  }

  void keep(int64_t epoch) override { models_.write(epoch, scale()); }

  nlohmann::json end_epoch(const EpochEnd& end) override {
    epochs_.push_back(epoch_of(end, scale()));
    nlohmann::json figures = to_json(epochs_.back());
    figures["kept_epoch"] = end.kept_epoch;
    return figures;
  }

  /// Restores the kept state and, if requested, updates the attributes' statistics to it.
  void finish(int64_t kept_epoch) override {
    const torch::NoGradGuard no_grad;
    models_.move_network(c10::kCPU);
    models_.backbone().set_mode(BackboneMode::kUse);
    models_.bring_back();
    if (models_.model() == nullptr || options_.statistics == AttributeStatistics::kKept) return;
    // The means and deviations in the file are from the backbone before training, and its features have changed.
    const PackedImages base = subset(images_, rows_of_split(images_, Split::kBase, 0));
    TorchEncoder encoder(models_.backbone());
    models_.set_statistics(extract_features(encoder, base, extract_options(), progress_), *classes_);
    models_.write(kept_epoch, epochs_[static_cast<size_t>(kept_epoch)].scale);
  }

  Checkpoint snapshot() override {
    Checkpoint state;
    state.artefact = models_.backbone().state_dict();
    state.training = head_tensors();
    state.position[kEpochs] = json::array();
    for (const MetatrainEpoch& epoch : epochs_) state.position[kEpochs].push_back(to_json(epoch));
    return state;
  }

  void restore(const Checkpoint& saved) override {
    const torch::NoGradGuard no_grad;
    saved.load_artefact(models_.backbone().state_dict());
    saved.load_training(head_tensors());
    for (const json& epoch : saved.position.at(kEpochs)) epochs_.push_back(epoch_from(epoch));
  }

 private:
  [[nodiscard]] const KnowledgeTable* classes() const { return classes_ ? &*classes_ : nullptr; }
  [[nodiscard]] double scale() const { return head_.scale().item<double>(); }

  /// Augments the images of an episode, embeds them and classifies them by the head. Image i is augmented with
  /// rng.fork(0).fork(i), attribute features come from rng.fork(1).
  [[nodiscard]] EpisodeOutcome run_episode(const Episode& episode, const Rng& rng) {
    const at::Tensor features = embed(images_of(episode, rng.fork(0)));  // [n * (k + q), d]
    const EpisodeShape& shape = options_.episode;
    const int64_t supports = shape.n_way * shape.k_shot;
    const EpisodeFeatures task{episode.classes, features.slice(0, 0, supports).view({shape.n_way, shape.k_shot, -1}),
                               features.slice(0, supports)};
    // Separate streams for pixels and noise, so that neither changes what the other draws.
    at::Generator noise = at::make_generator<at::CPUGeneratorImpl>(rng.fork(1).next());
    const at::Tensor logits = head_.logits(task, noise);  // [n * q, n]
    const at::Tensor truth = at::arange(shape.n_way).repeat_interleave(shape.n_query).to(device_);
    return {at::cross_entropy_loss(logits, truth), logits.argmax(1).eq(truth).to(at::kDouble).mean()};
  }

  /// Returns uint8 [n * (k + q), size, size, 3] on the device: supports by class, then queries by class.
  [[nodiscard]] at::Tensor images_of(const Episode& episode, const Rng& rng) const {
    std::vector<int64_t> rows;
    for (const auto* side : {&episode.support, &episode.query}) {
      for (const auto& group : *side) rows.insert(rows.end(), group.begin(), group.end());
    }
    const at::Tensor images = tensor_of(images_.pixels.gathered(rows)).to(device_);
    const AugmentOptions& augment = options_.augment;
    if (augment.crop_padding == 0 && augment.colour_jitter == 0 && augment.flip_probability == 0) return images;
    std::vector<AugmentDraw> draws;
    for (uint64_t i = 0; i < rows.size(); ++i) {
      Rng own = rng.fork(i);
      draws.push_back(draw_augmentation(augment, images.size(1), own));
    }
    const at::Tensor all = at::arange(images.size(0), images.options().dtype(at::kLong));
    return augment_batch(images, all, stack_draws(draws).to(device_));
  }

  [[nodiscard]] at::Tensor embed(const at::Tensor& images) {
    const PrecisionScope scope(precision_, device_);
    return models_.backbone().forward(to_float_images(images));
  }

  [[nodiscard]] ExtractOptions extract_options() const {
    ExtractOptions extract;
    extract.device = device_.str();
    extract.group = options_.group;
    return extract;
  }

  [[nodiscard]] NamedTensors head_tensors() const {
    NamedTensors tensors = models_.network_tensors();
    tensors.emplace_back("scale", head_.scale());
    return tensors;
  }

  const PackedImages& images_;
  FeatureSet base_;
  const MetatrainOptions& options_;
  const ProcessGroup& group_;
  const MetatrainFiles& files_;
  Progress& progress_;
  c10::Device device_;
  Precision precision_;
  std::optional<KnowledgeTable> classes_;
  JointModels models_;
  JointHead head_;
  ImageValidation validation_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::unique_ptr<GradientBuckets> buckets_;
  Rng rng_{0};        ///< of the epoch
  EpisodeList list_;  ///< the epoch's episodes, of all steps
  std::vector<MetatrainEpoch> epochs_;
};

/// Returns the backbone of an encoder. Throws UsageError for another engine, Error for an encoder that cannot be
/// written back.
Backbone& tunable_backbone(Encoder& encoder) {
  auto* of_torch = dynamic_cast<TorchEncoder*>(&encoder);
  if (of_torch == nullptr)
    fail_usage("joint meta-training needs an encoder that LibTorch runs, this one is run by {}", encoder.engine());
  Backbone& backbone = of_torch->backbone();
  if (!backbone.options())
    fail(
        "a TorchScript or ONNX backbone cannot be tuned, as it cannot be written back: give its state dict (npz, "
        "safetensors)");
  return backbone;
}

}  // namespace

MetatrainResult run_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options,
                              const MetatrainFiles& files, Progress& progress) {
  Backbone& backbone = tunable_backbone(inputs.encoder);
  const PackedImages parted = with_validation(inputs.images, options.validation);
  const JointInputs used{parted, backbone, inputs.model, inputs.knowledge};
  MetaTrainer trainer(used, options, files, progress);
  const json made_by = metatrain_made_by(inputs.images, options, files.training.provenance);
  const EpochLoopResult trained = EpochLoop(trainer, loop_options(options, files, made_by), progress).run();
  return {trained.kept_epoch, trainer.take_epochs()};
}

}  // namespace protocom
