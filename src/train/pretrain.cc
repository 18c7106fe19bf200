#include "protocom/train/pretrain.h"

#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <fstream>

#include "protocom/core/device.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/log.h"
#include "protocom/features/extract.h"
#include "train/batch_loader.h"
#include "train/episodic_validation.h"
#include "train/pretrain_state.h"

namespace protocom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check(const PretrainOptions& options) {
  if (options.schedule.epochs < 1) fail_usage("pre-training needs at least 1 epoch, found {}", options.schedule.epochs);
  if (options.batch < 2)
    fail_usage("pre-training needs a batch of at least 2 images (batch norm), found {}", options.batch);
  if (!(options.schedule.learning_rate > 0))
    fail_usage("the learning rate must be above 0, found {}", options.schedule.learning_rate);
  if (!(options.momentum > 0 && options.momentum < 1))
    fail_usage("momentum must be between 0 and 1, found {}", options.momentum);
  if (!(options.weight_decay >= 0)) fail_usage("weight decay must be at least 0, found {}", options.weight_decay);
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    fail_usage("label smoothing must be in [0, 1), found {}", options.label_smoothing);
  }
  const AugmentOptions& augment = options.augment;
  if (!(augment.crop_padding >= 0 && augment.crop_padding < 1) ||
      !(augment.colour_jitter >= 0 && augment.colour_jitter <= 1) ||
      !(augment.flip_probability >= 0 && augment.flip_probability <= 1)) {
    fail_usage("crop padding must be in [0, 1), colour jitter and flip probability in [0, 1], found {}, {} and {}",
               augment.crop_padding, augment.colour_jitter, augment.flip_probability);
  }
}

/// The base images: rows of the pack and their labels among the base classes.
struct BaseImages {
  std::vector<int64_t> rows, labels;
  int64_t classes = 0;
};

BaseImages base_images(const PackedImages& images) {
  BaseImages base;
  std::vector<int64_t> label_of(images.class_names.size(), -1);
  for (size_t c = 0; c < label_of.size(); ++c) {
    if (images.class_split[c] == Split::kBase) label_of[c] = base.classes++;
  }
  std::vector<int64_t> count(static_cast<size_t>(base.classes), 0);
  const at::Tensor labels = images.labels.contiguous();
  for (int64_t row = 0; row < images.size(); ++row) {
    const int64_t label = label_of[static_cast<size_t>(labels.data_ptr<int64_t>()[row])];
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

BatchLoaderOptions loader_options(const PretrainOptions& options, c10::Device device) {
  BatchLoaderOptions loader;
  loader.batch = options.batch;
  loader.augment = options.augment;
  loader.rotate = options.rotation == RotationTask::kOn ? Rotate::kYes : Rotate::kNo;
  loader.seed = options.seed;
  // A CPU computes for far longer than it prepares; a GPU does not.
  loader.workers = options.workers > 0 ? options.workers
                   : device.is_cuda()  ? std::max(1, std::min(8, usable_cores() - 1))
                                       : 1;
  return loader;
}

/// Sums over the images of an epoch.
struct EpochFigures {
  double loss = 0, correct = 0;
  int64_t images = 0;
  double seconds = 0, waited = 0;

  [[nodiscard]] double mean_loss() const { return loss / static_cast<double>(images); }
  [[nodiscard]] double accuracy() const { return correct / static_cast<double>(images); }
  [[nodiscard]] double images_per_second() const { return static_cast<double>(images) / seconds; }
};

/// The log of the epochs that are behind a resumed training: a cut can fall between an epoch's line and its checkpoint.
std::string first_lines(const std::filesystem::path& path, int64_t count) {
  std::string text;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (number > count) return false;
    text.append(line).push_back('\n');
    return true;
  });
  return text;
}

class Trainer {
 public:
  Trainer(const PackedImages& images, const PretrainOptions& options, const PretrainFiles& files, Progress& progress)
      : options_(options),
        files_(files),
        progress_(progress),
        device_(parse_device(options.device)),
        precision_(resolve_precision(options.precision, device_)),
        base_(base_images(images)),
        loader_(images.pixels, base_.rows, base_.labels, loader_options(options, device_)),
        validation_(images, options.validation, options.seed),
        state_(options, base_.classes, device_),
        fingerprint_(fingerprint(options, images)) {}

  PretrainResult run() {
    begin();
    progress_.start("pre-training", options_.schedule.epochs * loader_.batches());
    for (; state_.epoch < options_.schedule.epochs;) {
      const EpochFigures figures = train_epoch();
      ++state_.epoch;
      validate();
      keep(figures);
    }
    progress_.finish();
    return result_;
  }

 private:
  void begin() {
    check_writable(files_.best);
    if (files_.resume == Resume::kIfThere && std::filesystem::exists(files_.last())) {
      state_.load(files_.last(), fingerprint_);
      logger().info("going on after epoch {} of {}", state_.epoch, files_.last().string());
      result_ = state_.result;
      if (std::filesystem::exists(files_.log())) write_file(files_.log(), first_lines(files_.log(), state_.epoch));
    } else {
      write_file(files_.log(), "");
    }
    logger().info("{} base images of {} classes, {} steps of {} an epoch, {} on {}", base_.rows.size(), base_.classes,
                  loader_.batches(), loader_.batch_size(), to_string(precision_), device_.str());
    if (!validation_.possible()) logger().warn("no val classes to validate on: the last epoch counts as the best");
  }

  EpochFigures train_epoch() {
    state_.set_learning_rate(options_.schedule.at(state_.epoch));
    state_.backbone->set_training(true);
    EpochFigures figures;
    const auto start = Clock::now();
    loader_.start(state_.epoch);
    for (int64_t step = 0; step < loader_.batches(); ++step) {
      const auto asked = Clock::now();
      const Batch batch = *loader_.next();
      figures.waited += seconds_since(asked);
      train_step(batch, step, figures);
      figures.seconds = seconds_since(start);
      progress_.advance(state_.epoch * loader_.batches() + step + 1, describe(figures));
    }
    return figures;
  }

  void train_step(const Batch& batch, int64_t step, EpochFigures& figures) {
    const at::Tensor labels = batch.labels.to(device_);
    at::Tensor features;
    {
      const PrecisionScope scope(precision_, device_);
      features = state_.backbone->forward(to_float_images(batch.pixels.to(device_)));
    }
    const at::Tensor logits = state_.classifier(features);  // [b, classes]
    at::Tensor loss = cross_entropy(logits, labels);
    if (options_.rotation == RotationTask::kOn) {
      loss = 0.5 * loss + 0.5 * at::cross_entropy_loss(state_.rotation(features), batch.rotations.to(device_));
    }
    state_.optimizer->zero_grad();
    loss.backward();
    const double value = loss.item<double>();
    if (!std::isfinite(value)) {
      fail("the loss is {} at epoch {}, step {} of {}: lower --lr, or use --precision float32", value, state_.epoch + 1,
           step + 1, loader_.batches());
    }
    state_.optimizer->step();
    const int64_t count = labels.size(0);
    figures.images += count;
    figures.loss += value * static_cast<double>(count);
    figures.correct += logits.argmax(1).eq(labels).sum().item<double>();
  }

  [[nodiscard]] at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels) const {
    return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, -100, options_.label_smoothing);
  }

  void validate() {
    validation_accuracy_.reset();
    const bool due = state_.epoch % options_.validation.every == 0 || state_.epoch == options_.schedule.epochs;
    if (!validation_.possible() || !due) return;
    ExtractOptions extract;
    extract.batch = options_.batch;
    extract.device = device_.str();
    extract.precision = precision_;
    const FeatureSet features = extract_features(*state_.backbone, validation_.images(), extract, Progress::none());
    validation_accuracy_ = validation_.accuracy(features.features);
  }

  /// Decides whether this epoch is the best and writes what there is to write.
  void keep(const EpochFigures& figures) {
    const bool better = validation_.possible() ? validation_accuracy_ && validation_accuracy_->mean >
                                                                             result_.validation_accuracy.value_or(-1)
                                               : true;
    result_.epochs = state_.epoch;
    result_.loss = figures.mean_loss();
    result_.accuracy = figures.accuracy();
    result_.images_per_second = figures.images_per_second();
    if (better) {
      result_.best_epoch = state_.epoch;
      if (validation_accuracy_) result_.validation_accuracy = validation_accuracy_->mean;
    }
    state_.result = result_;
    const bool last = state_.epoch == options_.schedule.epochs;
    if (better && (validation_.possible() || last)) state_.write_backbone(files_);
    append_log(figures);
    state_.write(files_, fingerprint_);
  }

  void append_log(const EpochFigures& figures) const {
    nlohmann::json line = {{"epoch", state_.epoch},
                           {"learning_rate", options_.schedule.at(state_.epoch - 1)},
                           {"loss", figures.mean_loss()},
                           {"accuracy", figures.accuracy()},
                           {"images_per_second", figures.images_per_second()},
                           {"seconds", figures.seconds},
                           {"waited_seconds", figures.waited},
                           {"best_epoch", result_.best_epoch}};
    if (validation_accuracy_) {
      line["validation_accuracy"] = validation_accuracy_->mean;
      line["validation_ci95"] = validation_accuracy_->ci95;
    }
    std::ofstream log(files_.log(), std::ios::app);
    log << line.dump() << '\n';
    if (!log.flush()) fail("cannot write {}", files_.log().string());
  }

  [[nodiscard]] std::string describe(const EpochFigures& figures) const {
    std::string text = fmt::format("epoch {}/{}  loss {:.3f}  accuracy {:.1f} %  {:.0f} images/s", state_.epoch + 1,
                                   options_.schedule.epochs, figures.mean_loss(), 100 * figures.accuracy(),
                                   figures.images_per_second());
    if (result_.validation_accuracy) text += fmt::format("  best val {:.1f} %", 100 * *result_.validation_accuracy);
    return text;
  }

  const PretrainOptions& options_;
  const PretrainFiles& files_;
  Progress& progress_;
  c10::Device device_;
  Precision precision_;
  BaseImages base_;
  BatchLoader loader_;
  EpisodicValidation validation_;
  PretrainState state_;
  std::string fingerprint_;
  std::optional<EpisodicValidation::Accuracy> validation_accuracy_;
  PretrainResult result_;
};

}  // namespace

std::filesystem::path PretrainFiles::last() const { return best.string() + ".last"; }
std::filesystem::path PretrainFiles::log() const { return best.string() + ".jsonl"; }

PretrainResult pretrain(const PackedImages& images, const PretrainOptions& options, const PretrainFiles& files,
                        Progress& progress) {
  check(options);
  PretrainOptions sized = options;
  sized.backbone.image_size = images.image_size();
  return Trainer(images, sized, files, progress).run();
}

}  // namespace protocom
