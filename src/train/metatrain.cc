#include "protocom/train/metatrain.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <cmath>
#include <optional>

#include "protocom/core/device.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/log.h"
#include "protocom/eval/alignment.h"
#include "protocom/features/extract.h"
#include "protocom/fewshot/moments.h"
#include "train/augment_batch.h"
#include "train/gradient_buckets.h"
#include "train/image_subset.h"
#include "train/joint_head.h"
#include "train/meta_validation.h"
#include "train/metatrain_epoch.h"
#include "train/metatrain_options.h"
#include "train/together.h"
#include "train/training_keeper.h"
#include "train/training_log.h"

namespace protocom {
namespace {

using nlohmann::json;

void move(const ProtoComNet& network, c10::Device device) {
  for (const at::Tensor& parameter : network.parameters()) parameter.set_data(parameter.data().to(device));
}

class MetaTrainer {
 public:
  MetaTrainer(const PackedImages& images, const MetatrainInputs& inputs, const MetatrainOptions& options,
              const MetatrainFiles& files, Progress& progress)
      : images_(images),
        base_(without_features(images)),
        inputs_(inputs),
        options_(options),
        group_(*options.group),
        files_{files_of(group_, files.training), files.model},
        progress_(progress),
        device_(parse_device(device_of(group_, options.device))),
        precision_(resolve_precision(options.precision, device_)),
        classes_(aligned(images, inputs)),
        head_(options.head, inputs.model, classes_ ? &*classes_ : nullptr, options.scale),
        validation_(images, options),
        keeper_(files_.training, metatrain_made_by(images, options, files.training.provenance)) {
    inputs_.backbone->to(device_);
    if (inputs_.model != nullptr) move(inputs_.model->network, device_);
    head_.scale().set_data(head_.scale().data().to(device_));
    std::vector<at::Tensor> parameters = inputs_.backbone->parameters();
    for (const at::Tensor& parameter : head_.parameters()) parameters.push_back(parameter);
    optimizer_ =
        std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(options.schedule.learning_rate)
                                                            .momentum(options.momentum)
                                                            .weight_decay(options.weight_decay)
                                                            .nesterov(true));
    buckets_ = std::make_unique<GradientBuckets>(parameters, group_);
    check_divides(options.episodes, "episodes of a step", group_);
  }

  MetatrainResult run() {
    if (group_.leads() && !files_.model.empty()) check_writable(files_.model);
    begin();
    progress_.start("meta-training", options_.schedule.epochs * options_.batches);
    while (epoch_ < options_.schedule.epochs) {
      train_epoch();
      const bool last = sums_.epoch == options_.schedule.epochs;
      if (last || sums_.epoch % options_.validation_every == 0) sums_.validation = validate();
      keep(std::move(sums_));
      ++epoch_;
      step_ = 0;
      keeper_.save(snapshot());
    }
    progress_.finish();
    finish();
    keeper_.finish();
    return result_;
  }

 private:
  static std::optional<ClassKnowledge> aligned(const PackedImages& images, const MetatrainInputs& inputs) {
    if (inputs.model == nullptr) return std::nullopt;
    return align_knowledge(*inputs.knowledge, images.class_names, inputs.model->attributes);
  }

  void begin() {
    const auto saved = begin_together(keeper_, group_);
    if (saved) restore(*saved);
    logger().info("episodes of {} ways, {} shots and {} queries, {} a step, {} on {}", options_.episode.n_way,
                  options_.episode.k_shot, options_.episode.n_query, options_.episodes, to_string(precision_),
                  device_.str());
    log_.emplace(files_.training, saved ? epoch_ : TrainingLog::kNew);
    if (saved) return;
    keep({0, 0, 0, options_.scale, validate()});
    keeper_.save(snapshot());
  }

  void train_epoch() {
    inputs_.backbone->set_mode(options_.batch_norm == BatchNormStatistics::kBatch ? BackboneMode::kTrain
                                                                                  : BackboneMode::kTune);
    static_cast<torch::optim::SGDOptions&>(optimizer_->param_groups()[0].options()).lr(options_.schedule.at(epoch_));
    const Rng rng = Rng(options_.seed).fork(static_cast<uint64_t>(epoch_));
    const int64_t count = options_.batches * options_.episodes;
    const EpisodeList list = sample_episodes(base_, Split::kBase, options_.episode, count, Rng(rng).next());
    if (step_ == 0) sums_ = MetatrainEpoch{epoch_ + 1, 0, 0, 0, {}};
    while (step_ < options_.batches) {
      optimizer_->zero_grad();
      learn_step(list, rng);
      if (!std::isfinite(sums_.loss)) {
        fail("the loss is not finite at epoch {}, step {} (seed {}): lower --lr, or use --precision float32",
             epoch_ + 1, step_ + 1, options_.seed);
      }
      optimizer_->step();
      ++step_;
      progress_.advance(epoch_ * options_.batches + step_, describe(step_ * options_.episodes));
      keeper_.after_step([this] { return snapshot(); });
    }
    sums_.loss /= static_cast<double>(count);
    sums_.accuracy /= static_cast<double>(count);
    sums_.scale = head_.scale().item<double>();
  }

  [[nodiscard]] NamedTensors head_tensors() const {
    NamedTensors tensors = {{"scale", head_.scale()}};
    if (inputs_.model == nullptr) return tensors;
    for (const auto& [name, tensor] : inputs_.model->network.state_dict())
      tensors.emplace_back("network." + name, tensor);
    return tensors;
  }

  [[nodiscard]] Checkpoint snapshot() const {
    Checkpoint state;
    state.artefact = inputs_.backbone->state_dict();
    state.training = head_tensors();
    state.add_optimizer("optimizer", *optimizer_);
    state.position = {{"epoch", epoch_},
                      {"step", step_},
                      {"sums", to_json(sums_)},
                      {"kept_epoch", result_.kept_epoch},
                      {"best_accuracy", best_accuracy_},
                      {"epochs", json::array()}};
    for (const MetatrainEpoch& epoch : result_.epochs) state.position["epochs"].push_back(to_json(epoch));
    return state;
  }

  void restore(const Checkpoint& saved) {
    const torch::NoGradGuard no_grad;
    saved.load_artefact(inputs_.backbone->state_dict());
    saved.load_training(head_tensors());
    saved.load_optimizer("optimizer", *optimizer_);
    epoch_ = saved.position.at("epoch");
    step_ = saved.position.at("step");
    sums_ = epoch_from(saved.position.at("sums"));
    result_.kept_epoch = saved.position.at("kept_epoch");
    best_accuracy_ = saved.position.at("best_accuracy");
    for (const json& epoch : saved.position.at("epochs")) result_.epochs.push_back(epoch_from(epoch));
  }

  /// The gradients of a step's episodes, and their losses and accuracies in the sums of the epoch.
  void learn_step(const EpisodeList& list, const Rng& rng) {
    const auto [begin, end] = group_.share(options_.episodes);
    at::Tensor own = at::zeros({2}, at::TensorOptions(at::kDouble).device(device_));  // losses, accuracies
    for (int64_t i = begin; i < end; ++i) {
      const int64_t episode = step_ * options_.episodes + i;
      const at::Tensor loss =
          learn(list.episodes[static_cast<size_t>(episode)], rng.fork(static_cast<uint64_t>(episode)), own);
      // The mean over this process's episodes; the last one's backward averages over the processes.
      if (i + 1 < end) {
        (loss / static_cast<double>(end - begin)).backward();
      } else {
        buckets_->backward(loss / static_cast<double>(end - begin));
      }
    }
    const at::Tensor read = own.cpu();  // once a step: reading waits for what the device still computes
    const double* values = read.data_ptr<double>();
    const StepSums sums = sum_step({values[0], values[1], 0}, files_.training.stop, group_);
    sums_.loss += sums.loss;
    sums_.accuracy += sums.correct;
  }

  /// The loss of one episode; it and the accuracy are added to `sums`.
  at::Tensor learn(const Episode& episode, const Rng& rng, at::Tensor& sums) {
    const EpisodeShape& shape = options_.episode;
    const at::Tensor pixels = episode_pixels(episode, rng.fork(0));
    at::Tensor features;
    {
      const PrecisionScope scope(precision_, device_);
      features = inputs_.backbone->forward(to_float_images(pixels));
    }
    const int64_t supports = shape.n_way * shape.k_shot;
    EpisodeFeatures task{episode.classes, features.slice(0, 0, supports).view({shape.n_way, shape.k_shot, -1}),
                         features.slice(0, supports)};
    at::Generator noise = at::make_generator<at::CPUGeneratorImpl>(rng.fork(1).next());
    const at::Tensor logits = head_.logits(task, noise);  // [n * q, n]
    const at::Tensor truth = at::arange(shape.n_way).repeat_interleave(shape.n_query).to(device_);
    const at::Tensor loss = at::cross_entropy_loss(logits, truth);
    sums += at::stack({loss.detach().to(at::kDouble), logits.argmax(1).eq(truth).to(at::kDouble).mean()});
    return loss;
  }

  /// uint8 [n * (k + q), size, size, 3] on the device: supports by class, then queries by class.
  [[nodiscard]] at::Tensor episode_pixels(const Episode& episode, const Rng& rng) const {
    std::vector<int64_t> rows;
    for (const auto* side : {&episode.support, &episode.query}) {
      for (const auto& group : *side) rows.insert(rows.end(), group.begin(), group.end());
    }
    const at::Tensor pixels = images_.pixels.index_select(0, at::tensor(rows, at::kLong)).to(device_);
    const AugmentOptions& change = options_.augment;
    if (change.crop_padding == 0 && change.colour_jitter == 0 && change.flip_probability == 0) return pixels;
    std::vector<AugmentDraw> draws;
    for (uint64_t i = 0; i < rows.size(); ++i) {
      Rng own = rng.fork(i);
      draws.push_back(draw_augmentation(change, pixels.size(1), own));
    }
    const at::Tensor all = at::arange(pixels.size(0), pixels.options().dtype(at::kLong));
    return augment_batch(pixels, all, stack_draws(draws).to(device_));
  }

  [[nodiscard]] std::vector<ValidationRow> validate() {
    if (!validation_.possible()) return {};
    share_buffers(*inputs_.backbone, group_);
    if (inputs_.model != nullptr) move(inputs_.model->network, c10::kCPU);
    auto rows = validation_.run(*inputs_.backbone, inputs_.model, classes_ ? &*classes_ : nullptr);
    if (inputs_.model != nullptr) move(inputs_.model->network, device_);
    return rows;
  }

  /// Decides whether this epoch is the best so far, and writes what there is to write.
  void keep(MetatrainEpoch record) {
    const double accuracy = accuracy_of(record.validation, options_.head);
    const bool last = record.epoch == options_.schedule.epochs;
    if (validation_.possible() ? accuracy > best_accuracy_ : last) {
      best_accuracy_ = accuracy;
      result_.kept_epoch = record.epoch;
      write();
    }
    if (record.epoch > 0) log_epoch(record);
    result_.epochs.push_back(std::move(record));
  }

  void log_epoch(const MetatrainEpoch& record) {
    const double learning_rate = options_.schedule.at(record.epoch - 1);
    json line = to_json(record);
    line["learning_rate"] = learning_rate;
    line["kept_epoch"] = result_.kept_epoch;
    std::vector<Scalar> curves = {{"loss/train", record.loss},
                                  {"accuracy/train", record.accuracy},
                                  {"learning_rate", learning_rate},
                                  {"scale", record.scale}};
    for (const ValidationRow& row : record.validation)
      curves.push_back({"accuracy/validation/" + row.method, row.accuracy.value / 100});
    log_->add(record.epoch, line, curves);
  }

  void write() const {
    if (!group_.leads()) return;
    write_backbone(files_.training.out, *inputs_.backbone, *inputs_.backbone->options(), files_.training.provenance);
    if (files_.model.empty() || inputs_.model == nullptr) return;
    inputs_.model->gamma = head_.scale().item<double>();
    write_completion_model(files_.model, *inputs_.model, files_.training.provenance,
                           {{"kept_epoch", result_.kept_epoch}});
  }

  /// Brings the kept state back and, where asked for, the attributes' statistics up to date with it.
  void finish() {
    const torch::NoGradGuard no_grad;
    if (inputs_.model != nullptr) move(inputs_.model->network, c10::kCPU);
    inputs_.backbone->set_mode(BackboneMode::kUse);
    bring_back_the_kept();
    if (inputs_.model == nullptr || options_.statistics == AttributeStatistics::kKept) return;
    recompute_statistics();
    write();
  }

  void bring_back_the_kept() const {
    if (group_.leads()) read_the_kept();
    for (const auto& [name, tensor] : inputs_.backbone->state_dict()) group_.broadcast(tensor);
    if (inputs_.model == nullptr) return;
    for (const at::Tensor& parameter : inputs_.model->network.parameters()) group_.broadcast(parameter);
    const at::Tensor gamma = at::scalar_tensor(inputs_.model->gamma, at::kDouble);
    group_.broadcast(gamma);
    inputs_.model->gamma = gamma.item<double>();
  }

  void read_the_kept() const {
    const auto kept = read_backbone(files_.training.out, {});
    const auto from = kept->state_dict();
    const auto to = inputs_.backbone->state_dict();
    for (size_t i = 0; i < to.size(); ++i) to[i].second.copy_(from[i].second);
    if (files_.model.empty() || inputs_.model == nullptr) return;
    const CompletionModel model = read_completion_model(files_.model);
    for (const auto& [name, tensor] : model.network.state_dict()) inputs_.model->network.parameter(name).copy_(tensor);
    inputs_.model->gamma = model.gamma;
  }

  void recompute_statistics() const {
    ExtractOptions extract;
    extract.device = device_.str();
    extract.group = &group_;
    const FeatureSet base = extract_features(
        *inputs_.backbone, subset(images_, rows_of_split(images_, Split::kBase, 0)), extract, progress_);
    const Moments classes = class_moments(base.features, base.labels, static_cast<int64_t>(images_.class_names.size()));
    // The other splits have no images here, so their classes count for nothing.
    const Moments attributes = attribute_moments(classes, classes_->association);
    inputs_.model->attribute_mean = attributes.mean().to(at::kFloat);
    inputs_.model->attribute_std = attributes.std().to(at::kFloat);
  }

  [[nodiscard]] std::string describe(int64_t episodes) const {
    const auto n = static_cast<double>(episodes);
    std::string text = fmt::format("epoch {}/{}  loss {:.3f}  accuracy {:.1f} %", sums_.epoch, options_.schedule.epochs,
                                   sums_.loss / n, 100 * sums_.accuracy / n);
    if (best_accuracy_ >= 0) text += fmt::format("  best val {:.2f} %", best_accuracy_);
    return text;
  }

  const PackedImages& images_;
  FeatureSet base_;
  MetatrainInputs inputs_;
  const MetatrainOptions& options_;
  const ProcessGroup& group_;
  MetatrainFiles files_;
  Progress& progress_;
  c10::Device device_;
  Precision precision_;
  std::optional<ClassKnowledge> classes_;
  JointHead head_;
  MetaValidation validation_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::unique_ptr<GradientBuckets> buckets_;
  TrainingKeeper keeper_;
  std::optional<TrainingLog> log_;
  int64_t epoch_ = 0;    // done
  int64_t step_ = 0;     // done of the next
  MetatrainEpoch sums_;  // over the episodes of that one
  double best_accuracy_ = -1;
  MetatrainResult result_;
};

}  // namespace

MetatrainResult metatrain(const PackedImages& images, const MetatrainInputs& inputs, const MetatrainOptions& options,
                          const MetatrainFiles& files, Progress& progress) {
  check_metatrain(inputs, options);
  return MetaTrainer(images, inputs, options, files, progress).run();
}

}  // namespace protocom
