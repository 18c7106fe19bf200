#include "protocom/train/complete.h"

#include <torch/torch.h>

#include "protocom/core/enum_words.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/class_descriptions.h"
#include "protocom/train/completion_gain.h"
#include "train/completion_history.h"
#include "train/completion_setup.h"
#include "train/completion_tasks.h"
#include "train/epoch_loop.h"
#include "train/validation.h"

namespace protocom {
namespace {

constexpr EnumWord<Keep> kKeeps[] = {{Keep::kBest, "best"}, {Keep::kLast, "last"}};
constexpr EnumWord<Centring> kCentrings[] = {
    {Centring::kAuto, "auto"}, {Centring::kAlways, "always"}, {Centring::kNever, "never"}};

constexpr const char* kNetworkPrefix = "network.";
constexpr const char* kBestPrefix = "best.";

/// The tensors under names that begin with `prefix`.
NamedTensors prefixed(const char* prefix, const NamedTensors& tensors) {
  NamedTensors named;
  for (const auto& [name, tensor] : tensors) named.emplace_back(prefix + name, tensor);
  return named;
}

/// The features and what of them is trained on.
struct ScaledFeatures {
  const FeatureSet& raw;
  const FeatureSet& scaled;
  const FeatureScaling& scaling;
};

class CompletionTrainer : public Trainer {
 public:
  /// Everything must outlive it.
  CompletionTrainer(const ScaledFeatures& features, const Knowledge& knowledge, const CompleteOptions& options)
      : options_(options),
        features_(features),
        model_(untrained_model(features.scaled, knowledge, options)),
        classes_(align_knowledge(knowledge, features.scaled.class_names, model_.attributes)),
        tasks_(features.scaled, classes_, model_, options.seed),
        validation_(features.scaled, options.validation, options.seed),
        optimizer_(make_optimizer(model_.network.parameters(), options.sgd)) {}

  CompletionModel take_model() { return std::move(model_); }
  std::vector<CompleteEpoch> take_epochs() { return std::move(epochs_); }

  torch::optim::SGD& optimizer() override { return *optimizer_; }

  void begin_epoch(const Place& /*place*/) override {}

  at::Tensor learn(const Place& /*place*/) override {
    const CompletionBatch task = tasks_.draw(options_.batch, options_.k_shot);
    const at::Tensor loss = torch::mse_loss(model_.network.forward(task.input), task.target);
    loss.backward();
    return at::tensor({loss.item<double>(), 0.0, 1.0}, at::kDouble);
  }

  [[nodiscard]] std::string describe(const EpochSums& sums) const override {
    return fmt::format("loss {:.5f}", sums.mean_loss());
  }

  [[nodiscard]] int64_t validates_every() const override { return validation_.every(); }

  std::vector<MethodScores> validate(Progress& progress) override {
    // A cosine ignores the scale of the features, not the centre that was subtracted: then the folded model is
    // validated.
    if (!features_.scaling.centre.defined())
      return validation_.run(features_.scaled, {&model_, &classes_, {}}, progress);
    const CompletionModel folded = folded_copy(model_, features_.scaling);
    return validation_.run(features_.raw, {&folded, &classes_, {}}, progress);
  }

  void keep(int64_t /*epoch*/) override {
    best_.clear();
    for (const auto& [name, tensor] : model_.network.state_dict()) best_.emplace_back(name, tensor.detach().clone());
  }

  nlohmann::json end_epoch(const EpochEnd& end) override {
    epochs_.push_back({end.epoch, end.sums.mean_loss(), end.validation});
    nlohmann::json figures = {{"kept_epoch", end.kept_epoch}};
    if (!end.validation.empty()) figures["validation"] = accuracies_json(end.validation);
    return figures;
  }

  /// The network becomes that of the kept epoch.
  void finish(int64_t /*kept_epoch*/) override {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, tensor] : best_) at::Tensor(model_.network.parameter(name)).copy_(tensor);
  }

  Checkpoint snapshot() override {
    Checkpoint saved;
    saved.training = prefixed(kNetworkPrefix, model_.network.state_dict());
    for (auto& best : prefixed(kBestPrefix, best_)) saved.training.push_back(std::move(best));
    save_history(epochs_, saved);
    tasks_.save(saved);
    return saved;
  }

  void restore(const Checkpoint& saved) override {
    saved.load_training(prefixed(kNetworkPrefix, model_.network.state_dict()));
    tasks_.load(saved);
    epochs_ = load_history(saved);
    for (const auto& [name, tensor] : saved.training) {
      if (name.rfind(kBestPrefix, 0) == 0)
        best_.emplace_back(name.substr(std::string_view(kBestPrefix).size()), tensor);
    }
  }

 private:
  const CompleteOptions& options_;
  ScaledFeatures features_;
  CompletionModel model_;
  ClassDescriptions classes_;
  CompletionTasks tasks_;
  Validation validation_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::vector<CompleteEpoch> epochs_;
  NamedTensors best_;  ///< the network of the best epoch; empty before there is one
};

}  // namespace

Keep parse_keep(std::string_view text) { return value_of(kKeeps, text, "choice of an epoch"); }

std::string_view to_string(Keep keep) { return word_of(kKeeps, keep); }

Centring parse_centring(std::string_view text) { return value_of(kCentrings, text, "centring"); }

std::string_view to_string(Centring centring) { return word_of(kCentrings, centring); }

CompleteResult train_completion(const CompleteInputs& inputs, const CompleteOptions& options,
                                const TrainingFiles& files, Progress& progress) {
  const FeatureSet raw = with_validation(inputs.features, options.validation);
  check_completion(raw, options);
  const FeatureScaling scaling = feature_scaling(raw, options);
  FeatureSet features = raw;
  features.features = scaling.apply(raw.features);
  torch::manual_seed(options.seed);
  CompletionTrainer trainer({raw, features, scaling}, inputs.knowledge, options);
  EpochLoop loop(trainer, loop_options(options, files, fingerprint(raw, inputs.knowledge, options)), progress);
  const EpochLoopResult trained = loop.run();
  CompleteResult result{trainer.take_model(), trained.kept_epoch, trainer.take_epochs()};
  fold(result.model, scaling);
  result.model.inductive_method =
      best_inductive_row(result.epochs[static_cast<size_t>(result.kept_epoch - 1)].validation);
  return result;
}

CompleteResult train_completion(const CompleteInputs& inputs, const CompleteOptions& options, Progress& progress) {
  return train_completion(inputs, options, {}, progress);
}

}  // namespace protocom
