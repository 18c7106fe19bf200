#include "protocom/train/complete.h"

#include <torch/torch.h>

#include <cmath>
#include <optional>

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/eval/alignment.h"
#include "train/completion_setup.h"
#include "train/completion_tasks.h"
#include "train/training_keeper.h"
#include "train/training_log.h"

namespace protocom {
namespace {

using nlohmann::json;

/// The validation episodes of a training, when it has any.
class Validation {
 public:
  Validation(const FeatureSet& features, const ClassKnowledge& classes, const CompleteOptions& options)
      : features_(features), classes_(classes), decisive_(options.decisive) {
    if (options.validation_episodes < 1) return;
    if (static_cast<int64_t>(features.classes_of(Split::kVal).size()) < options.validation.n_way) {
      logger().warn("fewer val classes than the {} ways of a validation episode: no validation, the last epoch is kept",
                    options.validation.n_way);
      return;
    }
    episodes_ = sample_episodes(features, Split::kVal, options.validation, options.validation_episodes, options.seed);
  }

  [[nodiscard]] bool possible() const { return episodes_.has_value(); }

  [[nodiscard]] std::vector<MethodScores> run(const CompletionModel& model, Progress& progress) const {
    return evaluate({features_, &model, &classes_}, *episodes_, {}, progress);
  }

  /// The accuracy that decides, percent.
  [[nodiscard]] double decisive(const std::vector<MethodScores>& results) const {
    double sum = 0;
    for (const std::string& method : decisive_) sum += estimate(find_scores(results, method)->accuracy).value;
    return sum / static_cast<double>(decisive_.size());
  }

 private:
  const FeatureSet& features_;
  const ClassKnowledge& classes_;
  std::vector<std::string> decisive_;
  std::optional<EpisodeList> episodes_;
};

/// A copy of a network's parameters.
NamedTensors copy_of(const ProtoComNet& network) {
  NamedTensors copies;
  for (const auto& [name, tensor] : network.state_dict()) copies.emplace_back(name, tensor.detach().clone());
  return copies;
}

/// The history of a training as JSON, but for the scores of single episodes: too many numbers for text.
json to_json(const std::vector<CompleteEpoch>& epochs) {
  json history = json::array();
  for (const CompleteEpoch& epoch : epochs) {
    json methods = json::array();
    for (const MethodScores& scores : epoch.validation) methods.push_back({scores.method, scores.mode});
    history.push_back({{"epoch", epoch.epoch}, {"loss", epoch.loss}, {"methods", methods}});
  }
  return history;
}

/// The scores of all validations, [validations * methods, 2, episodes]; undefined when there was none.
at::Tensor scores_of(const std::vector<CompleteEpoch>& epochs) {
  std::vector<at::Tensor> rows;
  for (const CompleteEpoch& epoch : epochs) {
    for (const MethodScores& scores : epoch.validation)
      rows.push_back(at::stack({at::tensor(scores.accuracy, at::kDouble), at::tensor(scores.cosine, at::kDouble)}));
  }
  return rows.empty() ? at::Tensor() : at::stack(rows);
}

std::vector<double> to_vector(const at::Tensor& row) {
  const at::Tensor plain = row.contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

std::vector<CompleteEpoch> history_from(const json& saved, const std::function<at::Tensor()>& all_scores) {
  std::vector<CompleteEpoch> epochs;
  at::Tensor scores;
  int64_t row = 0;
  for (const json& entry : saved) {
    CompleteEpoch epoch{entry.at("epoch"), entry.at("loss"), {}};
    for (const json& method : entry.at("methods")) {
      if (!scores.defined()) scores = all_scores();
      MethodScores one;
      one.method = method.at(0);
      one.mode = method.at(1);
      one.accuracy = to_vector(scores[row][0]);
      one.cosine = to_vector(scores[row][1]);
      epoch.validation.push_back(std::move(one));
      ++row;
    }
    epochs.push_back(std::move(epoch));
  }
  return epochs;
}

constexpr const char* kOptimizer = "optimizer";
constexpr const char* kBest = "best.";
constexpr const char* kScores = "validation_scores";

class CompletionTrainer {
 public:
  /// `features` are of the scale to train on, `made_by` what everything follows from.
  CompletionTrainer(const FeatureSet& features, const Knowledge& knowledge, const CompleteOptions& options,
                    const TrainingFiles& files, json made_by)
      : options_(options),
        result_{untrained_model(features, knowledge, options), options.schedule.epochs, {}},
        classes_(align_knowledge(knowledge, features.class_names, result_.model.attributes)),
        tasks_(features, classes_, result_.model, options.seed),
        validation_(features, classes_, options),
        optimizer_(result_.model.network.parameters(), torch::optim::SGDOptions(options.schedule.learning_rate)
                                                           .momentum(options.momentum)
                                                           .weight_decay(options.weight_decay)
                                                           .nesterov(true)),
        files_(files),
        keeper_(files, std::move(made_by)) {}

  CompleteResult run(Progress& progress) {
    begin();
    progress.start("complete", options_.schedule.epochs * options_.batches);
    progress.advance(steps_done(), "");
    while (epoch_ < options_.schedule.epochs) {
      train_epoch(progress);
      CompleteEpoch record{epoch_ + 1, loss_sum_ / static_cast<double>(options_.batches), {}};
      validate(record);
      keep(std::move(record));
    }
    keeper_.finish();
    progress.finish();
    restore_best();
    return std::move(result_);
  }

 private:
  void begin() {
    const auto saved = keeper_.begin();
    if (saved) {
      load(*saved);
    } else {
      keeper_.save(snapshot());
    }
    log_.emplace(files_, saved ? epoch_ : TrainingLog::kNew);
  }

  [[nodiscard]] int64_t steps_done() const { return epoch_ * options_.batches + step_; }
  [[nodiscard]] double learning_rate() const { return options_.schedule.at(epoch_); }

  void train_epoch(Progress& progress) {
    static_cast<torch::optim::SGDOptions&>(optimizer_.param_groups()[0].options()).lr(learning_rate());
    while (step_ < options_.batches) {
      train_step();
      ++step_;
      progress.advance(steps_done(), describe());
      keeper_.after_step([this] { return snapshot(); });
    }
  }

  void train_step() {
    const CompletionBatch task = tasks_.draw(options_.batch, options_.k_shot);
    optimizer_.zero_grad();
    const at::Tensor loss = torch::mse_loss(result_.model.network.forward(task.input), task.target);
    const auto value = loss.item<double>();
    if (!std::isfinite(value)) {
      fail("the loss is not finite in epoch {}, step {} (seed {}): lower the learning rate", epoch_ + 1, step_ + 1,
           options_.seed);
    }
    loss.backward();
    optimizer_.step();
    loss_sum_ += value;
  }

  void validate(CompleteEpoch& record) {
    const bool last = record.epoch == options_.schedule.epochs;
    if (!validation_.possible() || !(last || record.epoch % options_.validation_every == 0)) return;
    keeper_.interruptible([&](Progress& progress) { record.validation = validation_.run(result_.model, progress); },
                          [this] { return snapshot(); });
  }

  /// Decides whether this epoch is the best so far, logs it and saves the state.
  void keep(CompleteEpoch record) {
    if (!record.validation.empty()) {
      last_accuracy_ = validation_.decisive(record.validation);
      if (options_.keep == Keep::kBest && last_accuracy_ > best_accuracy_) {
        best_accuracy_ = last_accuracy_;
        result_.kept_epoch = record.epoch;
        best_ = copy_of(result_.model.network);
      }
    }
    log_epoch(record);
    result_.epochs.push_back(std::move(record));
    ++epoch_;
    step_ = 0;
    loss_sum_ = 0;
    keeper_.save(snapshot());
  }

  void log_epoch(const CompleteEpoch& record) {
    json line = {{"learning_rate", learning_rate()}, {"loss", record.loss}, {"kept_epoch", result_.kept_epoch}};
    std::vector<Scalar> curves = {{"loss/train", record.loss}, {"learning_rate", learning_rate()}};
    for (const MethodScores& scores : record.validation) {
      const Estimate accuracy = estimate(scores.accuracy);
      const std::string& method = scores.method;
      line["validation"][method] = {{"accuracy", accuracy.value}, {"ci95", accuracy.ci95}};
      curves.push_back({"accuracy/validation/" + method, accuracy.value / 100});
    }
    log_->add(record.epoch, line, curves);
  }

  [[nodiscard]] Checkpoint snapshot() const {
    Checkpoint saved;
    for (const auto& [name, tensor] : result_.model.network.state_dict())
      saved.training.emplace_back("network." + name, tensor);
    for (const auto& [name, tensor] : best_) saved.training.emplace_back(kBest + name, tensor);
    const at::Tensor scores = scores_of(result_.epochs);
    if (scores.defined()) saved.training.emplace_back(kScores, scores);
    saved.add_optimizer(kOptimizer, optimizer_);
    saved.position = {{"epoch", epoch_},
                      {"step", step_},
                      {"loss_sum", loss_sum_},
                      {"best_accuracy", best_accuracy_},
                      {"kept_epoch", result_.kept_epoch},
                      {"history", to_json(result_.epochs)}};
    tasks_.save(saved);
    return saved;
  }

  void load(const Checkpoint& saved) {
    NamedTensors network;
    for (const auto& [name, tensor] : result_.model.network.state_dict())
      network.emplace_back("network." + name, tensor);
    saved.load_training(network);
    saved.load_optimizer(kOptimizer, optimizer_);
    tasks_.load(saved);
    try {
      saved.position.at("epoch").get_to(epoch_);
      saved.position.at("step").get_to(step_);
      saved.position.at("loss_sum").get_to(loss_sum_);
      saved.position.at("best_accuracy").get_to(best_accuracy_);
      saved.position.at("kept_epoch").get_to(result_.kept_epoch);
      result_.epochs = history_from(saved.position.at("history"), [&] { return saved.training_tensor(kScores); });
    } catch (const json::exception& error) {
      fail("{} does not say where the training stands: {}", saved.path.string(), error.what());
    }
    if (best_accuracy_ < 0) return;
    for (const auto& [name, tensor] : result_.model.network.state_dict())
      best_.emplace_back(name, saved.training_tensor(kBest + name));
  }

  void restore_best() {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, tensor] : best_) at::Tensor(result_.model.network.parameter(name)).copy_(tensor);
  }

  [[nodiscard]] std::string describe() const {
    std::string text = fmt::format("epoch {}/{}  loss {:.5f}  lr {:g}", epoch_ + 1, options_.schedule.epochs,
                                   loss_sum_ / static_cast<double>(step_), learning_rate());
    if (last_accuracy_ >= 0) text += fmt::format("  val {:.2f} %", last_accuracy_);
    return text;
  }

  const CompleteOptions& options_;
  CompleteResult result_;
  ClassKnowledge classes_;
  CompletionTasks tasks_;
  Validation validation_;
  torch::optim::SGD optimizer_;
  const TrainingFiles& files_;
  TrainingKeeper keeper_;
  std::optional<TrainingLog> log_;
  int64_t epoch_ = 0, step_ = 0;  // done
  double loss_sum_ = 0;           // of the steps of this epoch
  double best_accuracy_ = -1, last_accuracy_ = -1;
  NamedTensors best_;
};

}  // namespace

Keep parse_keep(std::string_view text) {
  if (text == "best") return Keep::kBest;
  if (text == "last") return Keep::kLast;
  fail_usage("unknown choice '{}'; use best or last", text);
}

CompleteResult train_completion(const FeatureSet& raw, const Knowledge& knowledge, const CompleteOptions& options,
                                const TrainingFiles& files, Progress& progress) {
  check_completion(raw, options);
  const double scale = feature_scale(raw, options.feature_rms);
  FeatureSet features = raw;
  features.features = raw.features * scale;
  torch::manual_seed(options.seed);
  CompletionTrainer trainer(features, knowledge, options, files, fingerprint(raw, knowledge, options));
  CompleteResult result = trainer.run(progress);
  fold_scale(result.model, scale);
  return result;
}

CompleteResult train_completion(const FeatureSet& features, const Knowledge& knowledge, const CompleteOptions& options,
                                Progress& progress) {
  return train_completion(features, knowledge, options, {}, progress);
}

}  // namespace protocom
