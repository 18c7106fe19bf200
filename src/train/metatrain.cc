#include "protocom/train/metatrain.h"

#include <torch/torch.h>

#include "protocom/core/device.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/log.h"
#include "protocom/features/extract.h"
#include "protocom/fewshot/class_descriptions.h"
#include "train/episode_loss.h"
#include "train/epoch_loop.h"
#include "train/gradient_buckets.h"
#include "train/image_subset.h"
#include "train/joint_head.h"
#include "train/joint_models.h"
#include "train/metatrain_epoch.h"
#include "train/metatrain_options.h"
#include "train/together.h"
#include "train/validation.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kEpochs = "epochs";

std::optional<ClassDescriptions> aligned(const MetatrainInputs& inputs) {
  if (inputs.model == nullptr) return std::nullopt;
  return align_knowledge(*inputs.knowledge, inputs.images.class_names, inputs.model->attributes);
}

class MetaTrainer : public Trainer {
 public:
  MetaTrainer(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
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
        head_(options.head, inputs.model, classes(), options.scale),
        loss_(images_.pixels, models_.backbone(), head_, options, device_),
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
      // The mean over this process's episodes; the last one's backward averages over the processes.
      const EpisodeOutcome outcome =
          loss_(list_.episodes[static_cast<size_t>(episode)], rng_.fork(static_cast<uint64_t>(episode)));
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

  /// Brings the kept state back and, where asked for, the attributes' statistics up to date with it.
  void finish(int64_t kept_epoch) override {
    const torch::NoGradGuard no_grad;
    models_.move_network(c10::kCPU);
    models_.backbone().set_mode(BackboneMode::kUse);
    models_.bring_back();
    if (models_.model() == nullptr || options_.statistics == AttributeStatistics::kKept) return;
    const PackedImages base = subset(images_, rows_of_split(images_, Split::kBase, 0));
    models_.set_statistics(extract_features(models_.backbone(), base, extract_options(), progress_), *classes_);
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
  [[nodiscard]] const ClassDescriptions* classes() const { return classes_ ? &*classes_ : nullptr; }
  [[nodiscard]] double scale() const { return head_.scale().item<double>(); }

  [[nodiscard]] ExtractOptions extract_options() const {
    ExtractOptions extract;
    extract.device = device_.str();
    extract.group = options_.group;
    return extract;
  }

  [[nodiscard]] NamedTensors head_tensors() const {
    NamedTensors tensors = models_.network();
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
  std::optional<ClassDescriptions> classes_;
  JointModels models_;
  JointHead head_;
  EpisodeLoss loss_;
  ImageValidation validation_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::unique_ptr<GradientBuckets> buckets_;
  Rng rng_{0};        ///< of the epoch
  EpisodeList list_;  ///< its episodes, of all steps
  std::vector<MetatrainEpoch> epochs_;
};

}  // namespace

MetatrainResult metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
                          Progress& progress) {
  check_metatrain(inputs, options);
  const PackedImages parted = with_validation(inputs.images, options.validation);
  const MetatrainInputs used{parted, inputs.backbone, inputs.model, inputs.knowledge};
  MetaTrainer trainer(used, options, files, progress);
  const json made_by = metatrain_made_by(inputs.images, options, files.training.provenance);
  const EpochLoopResult trained = EpochLoop(trainer, loop_options(options, files, made_by), progress).run();
  return {trained.kept_epoch, trainer.take_epochs()};
}

}  // namespace protocom
