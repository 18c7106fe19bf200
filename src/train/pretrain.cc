#include "protocom/train/pretrain.h"

#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "protocom/core/device.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/features/extract.h"
#include "protocom/nn/batch_statistics.h"
#include "train/base_images.h"
#include "train/batch_loader.h"
#include "train/episodic_validation.h"
#include "train/gradient_buckets.h"
#include "train/pretrain_options.h"
#include "train/pretrain_state.h"
#include "train/together.h"
#include "train/training_keeper.h"
#include "train/training_log.h"
#include "train/training_pixels.h"

namespace protocom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// On a GPU the step's sums are read only now and then: reading them waits for all that it still computes.
constexpr size_t kStepsBetweenReadings = 32;

BatchLoaderOptions loader_options(const PretrainOptions& options, c10::Device device, BatchContent content) {
  BatchLoaderOptions loader;
  loader.content = content;
  loader.pinned = device.is_cuda();
  loader.batch = options.batch;
  loader.augment = options.augment;
  loader.rotate = options.rotation == RotationTask::kOn ? Rotate::kYes : Rotate::kNo;
  loader.seed = options.seed;
  loader.group = options.group;
  // A CPU computes for far longer than it prepares; a GPU does not.
  loader.workers = options.workers > 0 ? options.workers
                   : device.is_cuda()  ? std::max(1, std::min(8, usable_cores() - 1))
                                       : 1;
  return loader;
}

/// The parameters that take part in the loss.
std::vector<at::Tensor> learned_parameters(const PretrainState& state, const PretrainOptions& options) {
  std::vector<at::Tensor> parameters = state.backbone->parameters();
  const auto add = [&](const torch::nn::Linear& head) {
    for (const at::Tensor& parameter : head->parameters()) parameters.push_back(parameter);
  };
  add(state.classifier);
  if (options.rotation == RotationTask::kOn) add(state.rotation);
  return parameters;
}

/// A step whose sums the device may still be computing.
struct UnreadStep {
  int64_t step = 0, images = 0;
  at::Tensor sums;  ///< float64 [2]: loss times images, hits
};

class Trainer {
 public:
  Trainer(const PackedImages& images, const PretrainOptions& options, const TrainingFiles& files, Progress& progress)
      : options_(options),
        group_(*options.group),
        files_(files_of(group_, files)),
        progress_(progress),
        device_(parse_device(device_of(group_, options.device))),
        precision_(resolve_precision(options.precision, device_)),
        base_(base_images(images)),
        pixels_(images.pixels, base_.rows, device_, options.augment_on),
        loader_(images.pixels, base_.rows, base_.labels, loader_options(options, device_, pixels_.content())),
        validation_(images, options.validation, options.seed),
        state_(options, base_.classes, device_),
        buckets_(learned_parameters(state_, options), group_),
        keeper_(files_, pretrain_made_by(images, options)) {
    check_divides(loader_.batch_size(), "images of a batch", group_);
  }

  PretrainResult run() {
    begin();
    progress_.start("pre-training", options_.schedule.epochs * loader_.batches());
    progress_.advance(steps_done(), "");
    while (state_.epoch < options_.schedule.epochs) {
      train_epoch();
      validate();
      ++state_.epoch;
      keep();
      state_.step = 0;
      state_.figures = {};
      keeper_.save(snapshot());
    }
    keeper_.finish();
    progress_.finish();
    return state_.result;
  }

 private:
  void begin() {
    const auto saved = begin_together(keeper_, group_);
    if (saved) {
      state_.load(*saved);
    } else {
      keeper_.save(snapshot());
    }
    log_.emplace(files_, saved ? state_.epoch : TrainingLog::kNew);
    logger().info("{} base images of {} classes, {} steps of {} an epoch, {} on {}", base_.rows.size(), base_.classes,
                  loader_.batches(), loader_.batch_size(), to_string(precision_), device_.str());
    if (!validation_.possible()) logger().warn("no val classes to validate on: the last epoch counts as the best");
  }

  [[nodiscard]] Checkpoint snapshot() {
    read_sums();
    return state_.checkpoint(files_.provenance);
  }
  [[nodiscard]] int64_t steps_done() const { return state_.epoch * loader_.batches() + state_.step; }

  /// From the step the state is at to the last one of its epoch.
  void train_epoch() {
    state_.set_learning_rate(options_.schedule.at(state_.epoch));
    state_.backbone->set_mode(BackboneMode::kTrain);
    const double before = state_.figures.seconds;
    const auto start = Clock::now();
    loader_.start(state_.epoch, state_.step);
    while (state_.step < loader_.batches()) {
      const auto asked = Clock::now();
      const Batch batch = *loader_.next();
      state_.figures.waited += seconds_since(asked);
      train_step(batch);
      ++state_.step;
      state_.figures.seconds = before + seconds_since(start);
      progress_.advance(steps_done(), describe());
      keeper_.after_step([this] { return snapshot(); });
    }
    read_sums();
  }

  void train_step(const Batch& batch) {
    const at::Tensor labels = batch.labels.to(device_);
    at::Tensor features;
    {
      const PrecisionScope scope(precision_, device_);
      const SharedBatchStatistics statistics(options_.batch_norm == BatchNormOver::kBatch ? group_
                                                                                          : ProcessGroup::single());
      features = state_.backbone->forward(to_float_images(pixels_.take(batch)));
    }
    const at::Tensor logits = state_.classifier(features);  // [b, classes]
    at::Tensor loss = cross_entropy(logits, labels);
    if (options_.rotation == RotationTask::kOn) {
      loss = 0.5 * loss + 0.5 * at::cross_entropy_loss(state_.rotation(features), batch.rotations.to(device_));
    }
    state_.optimizer->zero_grad();
    buckets_.backward(loss);
    remember(loss, logits.argmax(1).eq(labels), labels.size(0));
    state_.optimizer->step();
  }

  /// Notes a step's sums; on the CPU they are read at once, before its gradients change anything.
  void remember(const at::Tensor& loss, const at::Tensor& hits, int64_t count) {
    const at::Tensor sums = at::stack({loss.detach().to(at::kDouble) * count, hits.sum().to(at::kDouble)});
    unread_.push_back({state_.step, count, sums});
    // The processes of a job tell each other of every step, whether to stop among it.
    if (unread_.size() >= kStepsBetweenReadings || !device_.is_cuda() || !group_.alone()) read_sums();
  }

  /// Brings the sums of the steps since the last reading into the epoch's figures.
  void read_sums() {
    if (unread_.empty()) return;
    std::vector<at::Tensor> rows;
    for (const UnreadStep& step : unread_) rows.push_back(step.sums);
    const at::Tensor read = at::stack(rows).cpu();  // [steps, 2]
    const double* row = read.data_ptr<double>();
    for (const UnreadStep& step : std::exchange(unread_, {})) {
      const StepSums sums = sum_step({row[0], row[1], static_cast<double>(step.images)}, files_.stop, group_);
      if (!std::isfinite(sums.loss)) fail_not_finite(sums.loss / sums.images, step.step);
      state_.figures.images += static_cast<int64_t>(sums.images);
      state_.figures.loss += sums.loss;
      state_.figures.correct += sums.correct;
      row += 2;
    }
  }

  [[noreturn]] void fail_not_finite(double loss, int64_t step) const {
    fail(
        "the loss is {} at epoch {}, step {} of {} (seed {}): lower --lr, or use --precision float32; {} has the state "
        "that was saved last",
        loss, state_.epoch + 1, step + 1, loader_.batches(), options_.seed, files_.last().string());
  }

  [[nodiscard]] at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels) const {
    return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, -100, options_.label_smoothing);
  }

  void validate() {
    validation_accuracy_.reset();
    const int64_t epoch = state_.epoch + 1;
    const bool due = epoch % options_.validation.every == 0 || epoch == options_.schedule.epochs;
    if (!validation_.possible() || !due) return;
    ExtractOptions extract;
    extract.batch = options_.batch;
    extract.device = device_.str();
    extract.precision = precision_;
    extract.group = &group_;
    share_buffers(*state_.backbone, group_);
    const auto validate = [&](Progress& progress) {
      const FeatureSet features = extract_features(*state_.backbone, validation_.images(), extract, progress);
      validation_accuracy_ = validation_.accuracy(features.features);
    };
    // Several processes would not stop at the same place.
    if (!group_.alone()) return validate(Progress::none());
    keeper_.interruptible(validate, [this] { return snapshot(); });
  }

  /// Decides whether this epoch is the best, and writes backbone and log.
  void keep() {
    PretrainResult& result = state_.result;
    const bool better = validation_.possible() ? validation_accuracy_ && validation_accuracy_->mean >
                                                                             result.validation_accuracy.value_or(-1)
                                               : true;
    result.epochs = state_.epoch;
    result.loss = state_.figures.mean_loss();
    result.accuracy = state_.figures.accuracy();
    result.images_per_second = state_.figures.images_per_second();
    if (better) {
      result.best_epoch = state_.epoch;
      if (validation_accuracy_) result.validation_accuracy = validation_accuracy_->mean;
    }
    const bool last = state_.epoch == options_.schedule.epochs;
    if (group_.leads() && better && (validation_.possible() || last)) state_.write_backbone(files_);
    log_epoch();
  }

  void log_epoch() {
    const EpochFigures& figures = state_.figures;
    const double learning_rate = options_.schedule.at(state_.epoch - 1);
    nlohmann::json line = {{"learning_rate", learning_rate},
                           {"loss", figures.mean_loss()},
                           {"accuracy", figures.accuracy()},
                           {"images_per_second", figures.images_per_second()},
                           {"seconds", figures.seconds},
                           {"waited_seconds", figures.waited},
                           {"best_epoch", state_.result.best_epoch}};
    std::vector<Scalar> curves = {{"loss/train", figures.mean_loss()},
                                  {"accuracy/train", figures.accuracy()},
                                  {"learning_rate", learning_rate},
                                  {"images_per_second", figures.images_per_second()}};
    if (validation_accuracy_) {
      line["validation_accuracy"] = validation_accuracy_->mean;
      line["validation_ci95"] = validation_accuracy_->ci95;
      curves.push_back({"accuracy/validation", validation_accuracy_->mean});
    }
    log_->add(state_.epoch, line, curves);
  }

  [[nodiscard]] std::string describe() const {
    const EpochFigures& figures = state_.figures;
    std::string text = fmt::format("epoch {}/{}  loss {:.3f}  accuracy {:.1f} %  {:.0f} images/s", state_.epoch + 1,
                                   options_.schedule.epochs, figures.mean_loss(), 100 * figures.accuracy(),
                                   figures.images_per_second());
    const auto& best = state_.result.validation_accuracy;
    if (best) text += fmt::format("  best val {:.1f} %", 100 * *best);
    return text;
  }

  const PretrainOptions& options_;
  const ProcessGroup& group_;
  TrainingFiles files_;
  Progress& progress_;
  c10::Device device_;
  Precision precision_;
  BaseImages base_;
  TrainingPixels pixels_;
  BatchLoader loader_;
  EpisodicValidation validation_;
  PretrainState state_;
  GradientBuckets buckets_;
  TrainingKeeper keeper_;
  std::optional<TrainingLog> log_;
  std::vector<UnreadStep> unread_;
  std::optional<EpisodicValidation::Accuracy> validation_accuracy_;
};

}  // namespace

PretrainResult pretrain(const PackedImages& images, const PretrainOptions& options, const TrainingFiles& files,
                        Progress& progress) {
  check_pretrain(options);
  if (files.out.empty()) fail_usage("pre-training needs a file to write the backbone to");
  PretrainOptions sized = options;
  sized.backbone.image_size = images.image_size();
  return Trainer(images, sized, files, progress).run();
}

}  // namespace protocom
