#include "training/pretrain.h"

#include <torch/torch.h>

#include <chrono>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "encoders/extract.h"
#include "networks/batch_statistics.h"
#include "networks/device_precision.h"
#include "networks/torch_encoder.h"
#include "tensors/device.h"
#include "tensors/tensors.h"
#include "trainers/detail/epoch_loop.h"
#include "trainers/detail/first_weights.h"
#include "trainers/detail/gradient_buckets.h"
#include "trainers/detail/kept_buffers.h"
#include "trainers/detail/not_learning.h"
#include "trainers/detail/pretrain_loop.h"
#include "trainers/detail/pretrain_state.h"
#include "trainers/detail/resize_images.h"
#include "trainers/detail/split_orders.h"
#include "trainers/detail/together.h"
#include "trainers/detail/training_pixels.h"
#include "trainers/detail/trainings.h"
#include "trainers/detail/validation_episodes.h"

namespace protocom {
namespace {

/// The base images of a pack: their rows, and their labels among the base classes.
struct BaseImages {
  std::vector<int64_t> rows, labels;
  int64_t classes = 0;
};

/// Throws Error for fewer than two base classes and for a base class without images.
BaseImages base_images(const PackedImages& images) {
  BaseImages base;
  std::vector<int64_t> label_of(images.class_names.size(), -1);
  for (size_t c = 0; c < label_of.size(); ++c) {
    if (images.class_split[c] == Split::kBase) label_of[c] = base.classes++;
  }
  std::vector<int64_t> count(static_cast<size_t>(base.classes), 0);
  for (int64_t row = 0; row < images.size(); ++row) {
    const int64_t label = label_of[static_cast<size_t>(images.labels[static_cast<size_t>(row)])];
    if (label < 0) continue;
    base.rows.push_back(row);
    base.labels.push_back(label);
    ++count[static_cast<size_t>(label)];
  }
  if (base.classes < 2)
    fail("pre-training needs at least 2 base classes, found {}: does the split name them?", base.classes);
  for (size_t c = 0; c < label_of.size(); ++c) {
    if (label_of[c] >= 0 && count[static_cast<size_t>(label_of[c])] == 0)
      fail("base class '{}' has no images", images.class_names[c]);
  }
  return base;
}

using Clock = std::chrono::steady_clock;

constexpr const char* kWaited = "waited";
constexpr const char* kUnjudged = "unjudged";

class PretrainTrainer : public Trainer {
 public:
  PretrainTrainer(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files)
      : options_(options),
        group_(*options.group),
        files_(files),
        device_(parse_device(device_of(group_, options.device))),
        precision_(resolve_precision(options.precision, device_)),
        base_(base_images(images)),
        pixels_(tensor_of(images.pixels), base_.rows, device_, options.augment_on),
        loader_(tensor_of(images.pixels), base_.rows, base_.labels,
                loader_options(options, device_, pixels_.content())),
        validation_(images, options.validation, options.seed),
        state_(options, base_.classes, device_),
        biases_(state_.biases()),
        watch_(base_.classes, options.schedule, usual_rate(options)),
        buckets_(begun(images), group_) {
    check_divides(loader_.batch_size(), "images of a batch", group_);
    logger().info("{} base images of {} classes, {} steps of {} per epoch, {} on {}", base_.rows.size(), base_.classes,
                  loader_.batches(), loader_.batch_size(), to_string(precision_), device_.str());
  }

  [[nodiscard]] int64_t steps() const { return loader_.batches(); }

  torch::optim::SGD& optimizer() override { return *state_.optimizer; }

  void begin_epoch(const Place& place) override {
    if (place.step == 0) waited_ = 0;
    state_.backbone->set_mode(BackboneMode::kTrain);
    side_ = options_.growth.side_at(place.epoch, options_.schedule.epochs, options_.backbone.image_size);
    loader_.start(place.epoch, place.step);
  }

  at::Tensor learn(const Place& place) override {
    const auto asked = Clock::now();
    const Batch batch = *loader_.next();
    waited_ += std::chrono::duration<double>(Clock::now() - asked).count();
    const at::Tensor labels = batch.labels.to(device_);
    const at::Tensor images = resize_images(to_float_images(pixels_.take(batch)), side_);
    const at::Tensor features = forward(images);
    const at::Tensor logits = state_.logits(features);  // [b, classes]
    at::Tensor loss = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, -100, options_.label_smoothing);
    if (options_.rotation == RotationTask::kOn) {
      loss = 0.5 * loss + 0.5 * at::cross_entropy_loss(state_.rotation(features), batch.rotations.to(device_));
    }
    if (state_.cpde) loss = loss + options_.cpde.order_weight * loss_of_orders(images, place);
    buckets_.backward(loss);
    if (options_.bias_rate != 1) {
      for (const at::Tensor& bias : biases_) bias.mutable_grad().mul_(options_.bias_rate);
    }
    const at::Tensor mean = loss.detach().to(at::kDouble);
    const at::Tensor hits = logits.argmax(1).eq(labels).sum().to(at::kDouble);
    return at::stack({mean * labels.size(0), hits, at::full_like(mean, labels.size(0))});
  }

  [[nodiscard]] std::string describe(const EpochSums& sums) const override {
    return fmt::format("loss {:.3f}  accuracy {:.1f} %  {:.0f} images/s", sums.mean_loss(), 100 * sums.accuracy(),
                       sums.per_second());
  }

  [[nodiscard]] int64_t validates_every() const override { return validation_.every(); }

  std::vector<MethodScores> validate(Progress& progress) override {
    ExtractOptions extract;
    extract.batch = options_.batch;
    extract.device = device_.str();
    extract.precision = precision_;
    extract.group = &group_;
    return validation_.run(*state_.backbone, extract, {nullptr, nullptr, validating_head(options_)}, progress);
  }

  void keep(int64_t /*epoch*/) override {
    if (group_.is_main()) state_.write_backbone(files_);
  }

  nlohmann::json end_epoch(const EpochEnd& end) override {
    const EpochSums& sums = end.sums;
    if (const std::string warning = watch_.add(end.epoch, sums); !warning.empty()) logger().warn("{}", warning);
    nlohmann::json figures = {{"accuracy", sums.accuracy()},
                              {"images_per_second", sums.per_second()},
                              {"seconds", sums.seconds},
                              {"waited_seconds", waited_},
                              {"best_epoch", end.kept_epoch}};
    if (end.validation.empty()) return figures;
    const Estimate accuracy = estimate(find_scores(end.validation, validating_head(options_))->accuracy);
    figures["validation_accuracy"] = accuracy.value / 100;
    figures["validation_ci95"] = accuracy.ci95 / 100;
    return figures;
  }

  Checkpoint snapshot() override {
    Checkpoint saved = state_.checkpoint(files_.provenance);
    saved.position[kWaited] = waited_;
    saved.position[kUnjudged] = to_json(watch_.unjudged());
    return saved;
  }

  void restore(const Checkpoint& saved) override {
    state_.load(saved);
    waited_ = saved.position.value(kWaited, 0.0);
    if (saved.position.contains(kUnjudged)) watch_.go_on_from(sums_from(saved.position.at(kUnjudged)));
  }

 private:
  /// Returns the parameters, initialised.
  [[nodiscard]] std::vector<at::Tensor> begun(const PackedImages& images) {
    if (options_.initialisation == Initialisation::kWhitened) {
      whiten_first_convolution(*state_.backbone, tensor_of(images.pixels), base_.rows, options_.seed);
      pass_inputs_on(*state_.backbone);
    }
    return state_.learned_parameters(options_.rotation);
  }

  /// Maps images to features [b, d].
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const PrecisionScope scope(precision_, device_);
    const SharedBatchStatistics statistics(statistics_group());
    return state_.backbone->forward(images);
  }

  /// Returns CE_order of CPDE. The backbone is used with the statistics of whole images, so those of splits are
  /// discarded.
  [[nodiscard]] at::Tensor loss_of_orders(const at::Tensor& images, const Place& place) {
    const at::Tensor orders =
        draw_split_orders({options_.seed, place.epoch, place.step}, loader_.batch_size(), group_).to(device_);
    const KeptBuffers whole_images(*state_.backbone);
    const PrecisionScope scope(precision_, device_);
    const SharedBatchStatistics statistics(statistics_group());
    const at::Tensor maps = state_.backbone->forward_maps(ordered_splits(images, orders));  // [4 b, c, h, w]
    return order_loss(maps.to(at::kFloat).mean({2, 3}), orders, *state_.cpde);
  }

  [[nodiscard]] const ProcessGroup& statistics_group() const {
    return options_.batch_norm == BatchNormOver::kBatch ? group_ : ProcessGroup::single();
  }

  const PretrainRecipe& options_;
  const ProcessGroup& group_;
  const TrainingFiles& files_;
  c10::Device device_;
  Precision precision_;
  BaseImages base_;
  TrainingPixels pixels_;
  BatchLoader loader_;
  ImageValidation validation_;
  PretrainState state_;
  std::vector<at::Tensor> biases_;
  LearningWatch watch_;
  int64_t side_ = 0;  ///< of the epoch's images, pixels
  GradientBuckets buckets_;
  double waited_ = 0;  ///< seconds of the epoch spent waiting for a batch
};

PretrainResult result_of(const EpochLoopResult& trained) {
  PretrainResult result;
  result.epochs = trained.epochs;
  result.best_epoch = trained.kept_epoch;
  if (trained.best_accuracy) result.validation_accuracy = *trained.best_accuracy / 100;
  result.loss = trained.last.mean_loss();
  result.accuracy = trained.last.accuracy();
  result.images_per_second = trained.last.per_second();
  return result;
}

}  // namespace

PretrainResult run_pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                            Progress& progress) {
  const PackedImages parted = with_validation(images, options.validation);
  PretrainTrainer trainer(parted, options, files);
  EpochLoopOptions loop = loop_options(options, files, pretrain_made_by(images, options));
  loop.steps = trainer.steps();
  return result_of(EpochLoop(trainer, loop, progress).run());
}

}  // namespace protocom
