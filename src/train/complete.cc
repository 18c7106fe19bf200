#include "protocom/train/complete.h"

#include <torch/torch.h>

#include <cmath>
#include <optional>

#include "completion_tasks.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/eval/alignment.h"
#include "protocom/fewshot/moments.h"

namespace protocom {
namespace {

void check_options(const FeatureSet& features, const CompleteOptions& options) {
  if (options.batches < 1 || options.batch < 1 || options.k_shot < 1 || options.schedule.epochs < 1) {
    fail_usage("epochs, batches, batch and k-shot must be at least 1");
  }
  if (options.decisive.empty()) fail_usage("at least one method must decide which epoch is kept");
  if (options.validation_every < 1) fail_usage("the epochs between validations must be at least 1");
  const auto base = features.classes_of(Split::kBase);
  if (base.empty()) fail("the features have no base class: completion is learned on base classes");
  const auto rows = features.rows_by_class();
  for (const int64_t label : base) {
    const auto images = static_cast<int64_t>(rows[static_cast<size_t>(label)].size());
    if (images < options.k_shot) {
      fail("base class '{}' has {} images, {} shots need {}", features.class_names[static_cast<size_t>(label)], images,
           options.k_shot, options.k_shot);
    }
  }
}

/// Attributes with their statistics (equations 2 and 3) for those that some base image shows.
CompletionModel untrained_model(const FeatureSet& features, const Knowledge& knowledge,
                                const CompleteOptions& options) {
  const auto class_count = static_cast<int64_t>(features.class_names.size());
  ClassKnowledge all = align_knowledge(knowledge, features.class_names, knowledge.attributes);
  at::Tensor is_base = at::zeros({class_count});
  for (const int64_t label : features.classes_of(Split::kBase)) is_base[label] = 1;
  const Moments classes = class_moments(features.features, features.labels, class_count);
  const Moments attributes = attribute_moments(classes, all.association * is_base.unsqueeze(1));

  const at::Tensor shown = (attributes.count > 0).nonzero().squeeze(1);
  if (shown.size(0) == 0) fail("no base class has an attribute: there is nothing to complete from");
  const int64_t hidden = attributes.count.size(0) - shown.size(0);
  if (hidden > 0)
    logger().warn("{} of {} attributes are had by no base class and are left out", hidden, attributes.count.size(0));

  ProtoComNetOptions sizes;
  sizes.feature_dim = features.dim();
  sizes.embedding_dim = knowledge.embedding_dim();
  sizes.code_dim = options.code_dim;
  sizes.attention_hidden = options.attention_hidden;
  sizes.decoder_hidden = options.decoder_hidden;
  CompletionModel model{ProtoComNet(sizes), {}, {}, {}, {}};
  for (int64_t i = 0; i < shown.size(0); ++i)
    model.attributes.push_back(knowledge.attributes[static_cast<size_t>(shown[i].item<int64_t>())]);
  model.attribute_embedding = knowledge.attribute_embedding.index_select(0, shown);
  model.attribute_mean = attributes.mean().index_select(0, shown).to(at::kFloat);
  model.attribute_std = attributes.std().index_select(0, shown).to(at::kFloat);
  return model;
}

/// What the base features are multiplied with to have the root mean square that is asked for.
double feature_scale(const FeatureSet& features, double rms) {
  if (rms <= 0) return 1;
  at::Tensor is_base = at::zeros({static_cast<int64_t>(features.class_names.size())}, at::kBool);
  for (const int64_t label : features.classes_of(Split::kBase)) is_base[label] = true;
  const at::Tensor base = features.features.index({is_base.index({features.labels})});
  const double found = std::sqrt(base.square().mean(at::kDouble).item<double>());
  if (found == 0) fail("all features of the base classes are zero");
  return rms / found;
}

/// Makes a model that was trained on features times `scale` take and give the features themselves: the layers that read
/// a feature absorb the factor, the one that writes a prototype its inverse.
void fold_scale(CompletionModel& model, double scale) {
  const torch::NoGradGuard no_grad;
  const int64_t d = model.network.options().feature_dim;
  model.network.parameter("encoder.weight").mul_(scale);
  model.network.parameter("aggregator.0.weight").narrow(1, 0, d).mul_(scale);
  model.network.parameter("decoder.2.weight").div_(scale);
  model.network.parameter("decoder.2.bias").div_(scale);
  model.attribute_mean.div_(scale);
  model.attribute_std.div_(scale);
}

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

  [[nodiscard]] std::vector<MethodScores> run(const CompletionModel& model) const {
    return evaluate(features_, *episodes_, &model, &classes_, {}, Progress::none());
  }

  /// The accuracy that decides, percent.
  [[nodiscard]] double decisive(const std::vector<MethodScores>& results) const {
    double sum = 0;
    for (const Method method : decisive_) sum += estimate(results[static_cast<size_t>(method)].accuracy).value;
    return sum / static_cast<double>(decisive_.size());
  }

 private:
  const FeatureSet& features_;
  const ClassKnowledge& classes_;
  std::vector<Method> decisive_;
  std::optional<EpisodeList> episodes_;
};

/// A copy of a network's parameters.
class Snapshot {
 public:
  void take(const ProtoComNet& network) {
    tensors_.clear();
    for (const auto& tensor : network.parameters()) tensors_.push_back(tensor.detach().clone());
  }
  void restore(const ProtoComNet& network) const {
    const torch::NoGradGuard no_grad;
    const auto parameters = network.parameters();
    for (size_t i = 0; i < tensors_.size(); ++i) parameters[i].copy_(tensors_[i]);
  }

 private:
  std::vector<at::Tensor> tensors_;
};

/// One epoch; its mean loss.
double train_epoch(CompletionModel& model, CompletionTasks& tasks, torch::optim::SGD& optimizer,
                   const CompleteOptions& options, int64_t epoch) {
  double total = 0;
  for (int64_t step = 0; step < options.batches; ++step) {
    const CompletionBatch task = tasks.draw(options.batch, options.k_shot);
    optimizer.zero_grad();
    const at::Tensor loss = torch::mse_loss(model.network.forward(task.input), task.target);
    loss.backward();
    optimizer.step();
    total += loss.item<double>();
    if (!std::isfinite(total)) {
      fail("the loss is not finite in epoch {}, step {} (seed {}): lower the learning rate", epoch + 1, step + 1,
           options.seed);
    }
  }
  return total / static_cast<double>(options.batches);
}

std::string describe(const CompleteEpoch& epoch, double learning_rate) {
  std::string text = fmt::format("loss {:.5f}, lr {:g}", epoch.loss, learning_rate);
  for (const auto& result : epoch.validation) {
    text += fmt::format(", {} {:.2f}", to_string(result.method), estimate(result.accuracy).value);
  }
  return text;
}

}  // namespace

Keep parse_keep(std::string_view text) {
  if (text == "best") return Keep::kBest;
  if (text == "last") return Keep::kLast;
  fail_usage("unknown choice '{}'; use best or last", text);
}

CompleteResult train_completion(const FeatureSet& raw, const Knowledge& knowledge, const CompleteOptions& options,
                                Progress& progress) {
  check_options(raw, options);
  const double scale = feature_scale(raw, options.feature_rms);
  FeatureSet features = raw;
  features.features = raw.features * scale;
  torch::manual_seed(options.seed);
  CompleteResult result{untrained_model(features, knowledge, options), options.schedule.epochs, {}};
  CompletionModel& model = result.model;
  const ClassKnowledge classes = align_knowledge(knowledge, features.class_names, model.attributes);
  CompletionTasks tasks(features, classes, model, options.seed);
  const Validation validation(features, classes, options);
  torch::optim::SGD optimizer(model.network.parameters(), torch::optim::SGDOptions(options.schedule.learning_rate)
                                                              .momentum(options.momentum)
                                                              .weight_decay(options.weight_decay)
                                                              .nesterov(true));

  Snapshot best;
  double best_accuracy = -1;
  progress.start("complete", options.schedule.epochs);
  for (int64_t epoch = 0; epoch < options.schedule.epochs; ++epoch) {
    const double learning_rate = options.schedule.at(epoch);
    static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(learning_rate);
    CompleteEpoch record{epoch + 1, train_epoch(model, tasks, optimizer, options, epoch), {}};
    const bool last = epoch + 1 == options.schedule.epochs;
    if (validation.possible() && (last || (epoch + 1) % options.validation_every == 0)) {
      record.validation = validation.run(model);
      const double accuracy = validation.decisive(record.validation);
      if (options.keep == Keep::kBest && accuracy > best_accuracy) {
        best_accuracy = accuracy;
        result.kept_epoch = epoch + 1;
        best.take(model.network);
      }
    }
    progress.advance(epoch + 1, describe(record, learning_rate));
    result.epochs.push_back(std::move(record));
  }
  progress.finish();
  if (best_accuracy >= 0) best.restore(model.network);
  fold_scale(model, scale);
  return result;
}

}  // namespace protocom
