#include "training/complete.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <torch/torch.h>

#include "base/rng.h"
#include "fewshot/align_knowledge.h"
#include "heads/moments.h"
#include "heads/protocomnet.h"
#include "tensors/tensors.h"
#include "trainers/detail/attribute_draw.h"
#include "trainers/detail/checkpoint.h"
#include "trainers/detail/completion_setup.h"
#include "trainers/detail/epoch_loop.h"
#include "trainers/detail/trainings.h"
#include "trainers/detail/validation_episodes.h"
#include "training/completion_gain.h"

namespace protocom {
namespace {

/// A batch of prototype completion tasks: input of the network and target.
struct CompletionBatch {
  CompletionInput input;
  at::Tensor target;  // p_k^real of equation 1, [m, d]
};

/// Draws prototype completion tasks from the base classes (section 3.2, step 3).
class CompletionTasks {
 public:
  /// `classes` is in the order of features.class_names; the attributes are the model's.
  CompletionTasks(const FeatureSet& features, const KnowledgeTable& classes, const CompletionModel& model,
                  uint64_t seed)
      : features_(features),
        base_(features.classes_of(Split::kBase)),
        rows_(features.rows_by_class()),
        attributes_(classes, model),
        rng_(seed),
        generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
    const auto class_count = static_cast<int64_t>(features.class_names.size());
    centres_ = class_moments(tensor_of(features.features), at::tensor(features.labels, at::kLong), class_count)
                   .mean()
                   .to(at::kFloat);
  }

  [[nodiscard]] CompletionBatch draw(int64_t batch, int64_t k_shot) {
    std::vector<int64_t> labels;
    std::vector<int64_t> images;
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t label = base_[static_cast<size_t>(rng_.below(static_cast<int64_t>(base_.size())))];
      const auto& rows = rows_[static_cast<size_t>(label)];
      labels.push_back(label);
      for (const int64_t pick : rng_.sample(static_cast<int64_t>(rows.size()), k_shot))
        images.push_back(rows[static_cast<size_t>(pick)]);
    }
    const at::Tensor label = at::tensor(labels, at::kLong);
    CompletionBatch task;
    const at::Tensor prototypes =
        tensor_of(features_.features.gathered(images)).view({batch, k_shot, -1}).mean(1);  // [m, d]
    task.input = attributes_.input(prototypes, labels, generator_);
    task.target = centres_.index_select(0, label);
    return task;
  }

  /// Saves the state of the generators.
  void save(Checkpoint& checkpoint) const {
    checkpoint.add_rng("tasks_rng", rng_);
    checkpoint.add_generator("tasks_noise", generator_);
  }
  void load(const Checkpoint& checkpoint) {
    rng_ = checkpoint.rng("tasks_rng");
    checkpoint.load_generator("tasks_noise", generator_);
  }

 private:
  const FeatureSet& features_;
  std::vector<int64_t> base_;
  std::vector<std::vector<int64_t>> rows_;
  at::Tensor centres_;  // [c, d]
  AttributeDraw attributes_;
  Rng rng_;
  at::Generator generator_;
};

using nlohmann::json;

constexpr const char* kHistory = "history";
constexpr const char* kScores = "validation_scores";

/// Returns the scores of all validations, [validations * methods, 2, episodes]; undefined if there were none.
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

/// Adds the epochs of a completion training to its checkpoint: to the position, except for the scores of single
/// episodes, which are too many numbers for text.
void save_history(const std::vector<CompleteEpoch>& epochs, Checkpoint& checkpoint) {
  json history = json::array();
  for (const CompleteEpoch& epoch : epochs) {
    json methods = json::array();
    for (const MethodScores& scores : epoch.validation) methods.push_back({scores.method, scores.mode});
    history.push_back({{"epoch", epoch.epoch}, {"loss", epoch.loss}, {"methods", methods}});
  }
  checkpoint.position[kHistory] = std::move(history);
  const at::Tensor scores = scores_of(epochs);
  if (scores.defined()) checkpoint.training.emplace_back(kScores, scores);
}

/// Restores the epochs from such a checkpoint, to the last bit.
std::vector<CompleteEpoch> load_history(const Checkpoint& checkpoint) {
  std::vector<CompleteEpoch> epochs;
  at::Tensor scores;
  int64_t row = 0;
  for (const json& entry : checkpoint.position.at(kHistory)) {
    CompleteEpoch epoch{entry.at("epoch"), entry.at("loss"), {}};
    for (const json& method : entry.at("methods")) {
      if (!scores.defined()) scores = checkpoint.training_tensor(kScores);
      MethodScores method_scores;
      method_scores.method = method.at(0);
      method_scores.mode = method.at(1);
      method_scores.accuracy = to_vector(scores[row][0]);
      method_scores.cosine = to_vector(scores[row][1]);
      epoch.validation.push_back(std::move(method_scores));
      ++row;
    }
    epochs.push_back(std::move(epoch));
  }
  return epochs;
}

constexpr const char* kNetworkPrefix = "network.";
constexpr const char* kBestPrefix = "best.";

/// Returns the tensors with `prefix` prepended to their names.
NamedTensors prefixed(const char* prefix, const NamedTensors& tensors) {
  NamedTensors named;
  for (const auto& [name, tensor] : tensors) named.emplace_back(prefix + name, tensor);
  return named;
}

/// The features, raw and as scaled for training.
struct ScaledFeatures {
  const FeatureSet& raw;
  const FeatureSet& scaled;
  const FeatureScaling& scaling;
};

class CompletionTrainer : public Trainer {
 public:
  /// All arguments must outlive it.
  CompletionTrainer(const ScaledFeatures& features, const Knowledge& knowledge, const CompleteRecipe& options)
      : options_(options),
        features_(features),
        model_(untrained_model(features.scaled, knowledge, options)),
        network_(model_),
        classes_(align_knowledge(knowledge, features.scaled.class_names, model_.attributes)),
        tasks_(features.scaled, classes_, model_, options.seed),
        validation_(features.scaled, options.validation, options.seed),
        optimizer_(make_optimizer(network_.parameters(), options.sgd)) {}

  CompletionModel take_model() { return std::move(model_); }
  std::vector<CompleteEpoch> take_epochs() { return std::move(epochs_); }

  torch::optim::SGD& optimizer() override { return *optimizer_; }

  at::Tensor learn(const Place& /*place*/) override {
    const CompletionBatch task = tasks_.draw(options_.batch, options_.k_shot);
    const at::Tensor loss = torch::mse_loss(network_.forward(task.input), task.target);
    loss.backward();
    return at::tensor({loss.item<double>(), 0.0, 1.0}, at::kDouble);
  }

  [[nodiscard]] std::string describe(const EpochSums& sums) const override {
    return fmt::format("loss {:.5f}", sums.mean_loss());
  }

  [[nodiscard]] int64_t validates_every() const override { return validation_.every(); }

  std::vector<MethodScores> validate(Progress& progress) override {
    // A cosine ignores the scale of the features, but not a subtracted centre: in that case the folded model is
    // validated.
    if (!features_.scaling.centre.defined())
      return validation_.run(features_.scaled, {&model_, &classes_, {}}, progress);
    const CompletionModel folded = folded_copy(model_, features_.scaling);
    return validation_.run(features_.raw, {&folded, &classes_, {}}, progress);
  }

  void keep(int64_t /*epoch*/) override {
    best_.clear();
    for (const auto& [name, tensor] : network_.state_dict()) best_.emplace_back(name, tensor.detach().clone());
  }

  nlohmann::json end_epoch(const EpochEnd& end) override {
    epochs_.push_back({end.epoch, end.sums.mean_loss(), end.validation});
    nlohmann::json figures = {{"kept_epoch", end.kept_epoch}};
    if (!end.validation.empty()) figures["validation"] = accuracies_json(end.validation);
    return figures;
  }

  /// Sets the network to that of the kept epoch.
  void finish(int64_t /*kept_epoch*/) override {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, tensor] : best_) at::Tensor(network_.parameter(name)).copy_(tensor);
  }

  Checkpoint snapshot() override {
    Checkpoint saved;
    saved.training = prefixed(kNetworkPrefix, network_.state_dict());
    for (auto& best : prefixed(kBestPrefix, best_)) saved.training.push_back(std::move(best));
    save_history(epochs_, saved);
    tasks_.save(saved);
    return saved;
  }

  void restore(const Checkpoint& saved) override {
    saved.load_training(prefixed(kNetworkPrefix, network_.state_dict()));
    tasks_.load(saved);
    epochs_ = load_history(saved);
    for (const auto& [name, tensor] : saved.training) {
      if (name.rfind(kBestPrefix, 0) == 0)
        best_.emplace_back(name.substr(std::string_view(kBestPrefix).size()), tensor);
    }
  }

 private:
  const CompleteRecipe& options_;
  ScaledFeatures features_;
  CompletionModel model_;
  ProtoComNet network_;  // shares the model's weights
  KnowledgeTable classes_;
  CompletionTasks tasks_;
  Validation validation_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::vector<CompleteEpoch> epochs_;
  NamedTensors best_;  ///< network of the best epoch; empty before there is one
};

}  // namespace

CompletionTraining run_completion(const CompleteInputs& inputs, const CompleteRecipe& options,
                                  const TrainingFiles& files, Progress& progress) {
  const FeatureSet raw = with_validation(inputs.features, options.validation);
  check_completion(raw, options);
  const FeatureScaling scaling = feature_scaling(raw, options);
  FeatureSet features = raw;
  features.features = array_of(scaling.apply(tensor_of(raw.features)));
  torch::manual_seed(options.seed);
  CompletionTrainer trainer({raw, features, scaling}, inputs.knowledge, options);
  EpochLoop loop(trainer, loop_options(options, files, fingerprint(raw, inputs.knowledge, options)), progress);
  const EpochLoopResult trained = loop.run();
  CompletionTraining result{trainer.take_model(), trained.kept_epoch, trainer.take_epochs()};
  fold(result.model, scaling);
  result.model.inductive_method =
      best_inductive_row(result.epochs[static_cast<size_t>(result.kept_epoch - 1)].validation);
  return result;
}

}  // namespace protocom
