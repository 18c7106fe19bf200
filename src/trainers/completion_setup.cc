#include "trainers/detail/completion_setup.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "fewshot/align_knowledge.h"
#include "heads/moments.h"
#include "heads/protocomnet.h"
#include "io/files.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

std::string hash_values(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return hash_bytes({static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes())});
}

std::string hash_of(const FeatureSet& features) {
  std::string text = hash_values(tensor_of(features.features)) + hash_values(at::tensor(features.labels, at::kLong));
  for (size_t c = 0; c < features.class_names.size(); ++c)
    text += fmt::format("{}\t{}\n", features.class_names[c], to_string(features.class_split[c]));
  return hash_bytes(text);
}

std::string hash_of(const Knowledge& knowledge) {
  return hash_bytes(fmt::format("{}\n{}\n{} {} {}", fmt::join(knowledge.classes, "\n"),
                                fmt::join(knowledge.attributes, "\n"), hash_values(tensor_of(knowledge.association)),
                                hash_values(tensor_of(knowledge.class_embedding)),
                                hash_values(tensor_of(knowledge.attribute_embedding))));
}

}  // namespace

void check_completion(const FeatureSet& features, const CompleteRecipe& options) {
  if (options.batches < 1 || options.batch < 1 || options.k_shot < 1 || options.schedule.epochs < 1) {
    fail_usage("epochs, batches, batch and k-shot: expected at least 1 of each, found {}, {}, {} and {}",
               options.schedule.epochs, options.batches, options.batch, options.k_shot);
  }
  if (options.selection_methods.empty())
    fail_usage("methods that decide which epoch is kept: expected at least one, found none");
  const auto rows_of_paper = paper_rows();
  for (const auto& method : options.selection_methods) {
    if (std::find(rows_of_paper.begin(), rows_of_paper.end(), method) == rows_of_paper.end())
      fail_usage("only {} can decide which epoch is kept, found '{}'", fmt::join(rows_of_paper, ", "), method);
  }
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

CompletionModel untrained_model(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options) {
  const auto class_count = static_cast<int64_t>(features.class_names.size());
  KnowledgeTable all = align_knowledge(knowledge, features.class_names, knowledge.attributes);
  at::Tensor is_base = at::zeros({class_count});
  for (const int64_t label : features.classes_of(Split::kBase)) is_base[label] = 1;
  const Moments classes =
      class_moments(tensor_of(features.features), at::tensor(features.labels, at::kLong), class_count);
  const Moments attributes = attribute_moments(classes, tensor_of(all.association) * is_base.unsqueeze(1));

  const at::Tensor shown = (attributes.count > 0).nonzero().squeeze(1);
  if (shown.size(0) == 0) fail("no base class has an attribute: there is nothing to complete from");
  const int64_t hidden = attributes.count.size(0) - shown.size(0);
  if (hidden > 0)
    logger().warn("ignoring {} of {} attributes, which no base class has", hidden, attributes.count.size(0));

  ProtoComNetOptions sizes;
  sizes.feature_dim = features.dim();
  sizes.embedding_dim = knowledge.embedding_dim();
  sizes.code_dim = options.code_dim;
  sizes.attention_hidden = options.attention_hidden;
  sizes.decoder_hidden = options.decoder_hidden;
  CompletionModel model;
  model.sizes = sizes;
  model.weights = weights_of(ProtoComNet(sizes));
  for (const int64_t label : features.classes_of(Split::kBase))
    model.trained_on.push_back(features.class_names[static_cast<size_t>(label)]);
  const std::vector<int64_t> which = numbers_of(shown);
  for (const int64_t a : which) model.attributes.push_back(knowledge.attributes[static_cast<size_t>(a)]);
  model.attribute_embedding = knowledge.attribute_embedding.gathered(which);
  model.attribute_mean = array_of(attributes.mean().index_select(0, shown).to(at::kFloat));
  model.attribute_std = array_of(attributes.std().index_select(0, shown).to(at::kFloat));
  return model;
}

at::Tensor FeatureScaling::apply(const at::Tensor& features) const {
  return (centre.defined() ? features - centre : features) * scale;
}

FeatureScaling feature_scaling(const FeatureSet& features, const CompleteRecipe& options) {
  FeatureScaling scaling;
  at::Tensor is_base = at::zeros({static_cast<int64_t>(features.class_names.size())}, at::kBool);
  for (const int64_t label : features.classes_of(Split::kBase)) is_base[label] = true;
  const at::Tensor base = tensor_of(features.features).index({is_base.index({at::tensor(features.labels, at::kLong)})});
  double found = std::sqrt(base.square().mean(at::kDouble).item<double>());
  if (found == 0) fail("all features of the base classes are zero");
  if (options.centring != Centring::kNever) {
    const at::Tensor mean = base.mean(0, false, at::kDouble);
    // Most of what general encoders output is the same for all images, and a loss on it drowns what distinguishes
    // classes.
    const double shared = mean.square().mean().item<double>() / (found * found);
    if (options.centring == Centring::kAlways || shared > 0.5) {
      logger().info("{:.0f} % of the features' square is their mean: completion is learned on centred features",
                    100 * shared);
      scaling.centre = mean.to(at::kFloat);
      found = std::sqrt((base - scaling.centre).square().mean(at::kDouble).item<double>());
      if (found == 0) fail("all features of the base classes are identical: check the encoder");
    }
  }
  if (options.feature_rms > 0) scaling.scale = options.feature_rms / found;
  return scaling;
}

void fold(CompletionModel& model, const FeatureScaling& scaling) {
  const auto weight = [&model](const char* name) { return tensor_of(model.weight(name)); };  // the model's memory
  const at::Tensor mean = tensor_of(model.attribute_mean);
  // The model is trained on f' = s (f - c). Since W f' + b = (s W) f + (b - s W c), folded layers take f itself, and
  // the decoder's y' becomes y = y' / s + c: the model in the file needs no scaling.
  const at::Tensor encoder = weight("encoder.weight").mul_(scaling.scale);
  const at::Tensor attention = weight("aggregator.0.weight").narrow(1, 0, model.sizes.feature_dim).mul_(scaling.scale);
  weight("decoder.2.weight").div_(scaling.scale);
  weight("decoder.2.bias").div_(scaling.scale);
  mean.div_(scaling.scale);
  tensor_of(model.attribute_std).div_(scaling.scale);
  if (!scaling.centre.defined()) return;
  weight("encoder.bias").sub_(at::mv(encoder, scaling.centre));
  weight("aggregator.0.bias").sub_(at::mv(attention, scaling.centre));
  weight("decoder.2.bias").add_(scaling.centre);
  mean.add_(scaling.centre);
}

CompletionModel folded_copy(const CompletionModel& model, const FeatureScaling& scaling) {
  CompletionModel copy = model;
  for (auto& [name, array] : copy.weights) array = array.copy();
  copy.attribute_mean = model.attribute_mean.copy();
  copy.attribute_std = model.attribute_std.copy();
  fold(copy, scaling);
  return copy;
}

nlohmann::json fingerprint(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options) {
  return {{"features", hash_of(features)},
          {"knowledge", hash_of(knowledge)},
          {"schedule", to_string(options.schedule.shape)},
          {"epochs", options.schedule.epochs},
          {"milestones", options.schedule.milestones},
          {"learning_rate", options.schedule.learning_rate},
          {"batches", options.batches},
          {"batch", options.batch},
          {"k_shot", options.k_shot},
          {"momentum", options.sgd.momentum},
          {"weight_decay", options.sgd.weight_decay},
          {"feature_rms", options.feature_rms},
          {"code_dim", options.code_dim},
          {"attention_hidden", options.attention_hidden},
          {"decoder_hidden", options.decoder_hidden},
          {"validation",
           {options.validation.shape.n_way, options.validation.shape.k_shot, options.validation.shape.n_query}},
          {"validation_episodes", options.validation.episodes},
          {"validation_every", options.validation.every},
          {"selection_methods", options.selection_methods},
          {"keep", to_string(options.keep)},
          {"centring", to_string(options.centring)},
          {"seed", options.seed}};
}

EpochLoopOptions loop_options(const CompleteRecipe& options, const TrainingFiles& files, nlohmann::json made_by) {
  EpochLoopOptions loop;
  loop.name = "complete";
  loop.schedule = options.schedule;
  loop.steps = options.batches;
  if (options.keep == Keep::kBest) loop.chosen_by = options.selection_methods;
  loop.seed = options.seed;
  loop.files = files;
  loop.made_by = std::move(made_by);
  return loop;
}

}  // namespace protocom
