#include "fewshot/heads/am3_method.h"

#include <torch/torch.h>

#include <cmath>

#include "fewshot/toolbox/expect_tensor.h"
#include "fewshot/toolbox/step_training.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/toolbox/distances.h"

namespace protocom {
namespace {

constexpr double kFirstScale = 10;
constexpr int64_t kHeldOutTasks = 200;

std::vector<at::Tensor> rows_of(const std::vector<ClassSemantics>& semantics, const at::Tensor& classes) {
  std::vector<at::Tensor> rows;
  for (const ClassSemantics& one : semantics) rows.push_back(one.of(classes));
  return rows;
}

/// Nearest prototype after the chain.
class Am3Scorer : public Scorer {
 public:
  Am3Scorer(Am3Model model, std::vector<ClassSemantics> semantics)
      : model_(std::move(model)), semantics_(std::move(semantics)) {}
  [[nodiscard]] std::shared_ptr<const FeatureMap> feature_map() const override { return model_.space; }

 private:
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const at::Tensor prototypes =
        chained(model_.blocks, mean_of_supports(batch), rows_of(semantics_, classes_of(batch))).back();
    return {model_.logits(batch.query, prototypes), model_.space->back(prototypes)};
  }

  Am3Model model_;
  std::vector<ClassSemantics> semantics_;
};

std::string prefix_of(size_t block, const char* part) { return fmt::format("block{}.{}.", block, part); }

}  // namespace

std::vector<at::Tensor> Am3Model::parameters() const {
  std::vector<at::Tensor> all = {log_scale};
  for (const Am3Block& block : blocks) {
    for (const at::Tensor& one : block.transform.parameters()) all.push_back(one);
    for (const at::Tensor& one : block.gate.parameters()) all.push_back(one);
  }
  return all;
}

at::Tensor Am3Model::logits(const at::Tensor& queries, const at::Tensor& prototypes) const {
  return -log_scale.exp() * squared_distances(queries, prototypes);
}

at::Tensor am3_loss(const Am3Model& model, const TrainingTasks& tasks, const std::vector<at::Tensor>& semantics,
                    const Am3Design& design, Dropout dropout) {
  const at::Tensor margins = class_margins(semantics.front(), design.margins);
  at::Tensor loss = at::zeros({});
  for (const at::Tensor& prototypes : chained(model.blocks, mean_of_supports(tasks.batch), semantics, dropout)) {
    const at::Tensor logits = model.logits(tasks.batch.query, prototypes);
    loss = loss + task_loss(with_margins(logits, tasks.labels, margins), tasks.labels);
  }
  return loss;
}

std::vector<ClassSemantics> Am3Method::semantics_of(const KnowledgeTable& knowledge,
                                                    const std::vector<std::string>& class_names) const {
  std::vector<ClassSemantics> semantics;
  for (const std::string& name : design_.semantics) semantics.emplace_back(name, knowledge, class_names, attributes_);
  return semantics;
}

std::unique_ptr<Scorer> Am3Method::prepare(const MethodContext& context) const {
  std::vector<ClassSemantics> semantics = semantics_of(*context.knowledge, *context.class_names);
  for (size_t i = 0; i < semantics.size(); ++i) {
    const int64_t fitted = model_.blocks[i].transform.in();
    if (semantics[i].width() != fitted)
      fail("'{}' was fitted on {} values a class ({}), this knowledge has {}: give the same kind of knowledge",
           spec().name, fitted, design_.semantics[i], semantics[i].width());
  }
  return std::make_unique<Am3Scorer>(model_, std::move(semantics));
}

void Am3Method::fit(const FitInputs& inputs) {
  torch::manual_seed(inputs.seed);
  model_ = {std::make_shared<UnitSpace>(options_.space, inputs.base.features), {}, {}};
  const KnowledgeTable& knowledge = knowledge_of(inputs, spec().name);
  attributes_ = knowledge.attributes;
  const auto semantics = semantics_of(knowledge, *inputs.class_names);
  const int64_t dim = model_.space->dim();
  for (const ClassSemantics& one : semantics) {
    model_.blocks.push_back(
        {TwoLayers::untrained({one.width(), options_.hidden, dim}), TwoLayers::untrained({dim, options_.hidden, 1})});
  }
  model_.log_scale = at::full({}, std::log(kFirstScale)).requires_grad_();
  const TrainingClasses classes = training_classes(inputs, *model_.space, spec().name, options_.shots + 1);
  Rng rng(inputs.seed);
  TrainingTaskShape shape;
  shape.ways = options_.ways;
  shape.shots = options_.shots;
  const auto loss = [&] {
    const TrainingTasks tasks = draw_training_tasks(classes.train, shape, rng);
    return am3_loss(model_, tasks, rows_of(semantics, tasks.batch.classes), design_, {options_.dropout});
  };
  std::function<double()> held_out;
  TrainingTasks unseen;
  if (classes.held_out.classes() > 0) {
    unseen = draw_training_tasks(classes.held_out, {kHeldOutTasks, 5, options_.shots, 15}, rng);
    held_out = [&] {
      const auto prototypes =
          chained(model_.blocks, mean_of_supports(unseen.batch), rows_of(semantics, unseen.batch.classes)).back();
      return task_accuracy(model_.logits(unseen.batch.query, prototypes), unseen.labels);
    };
  }
  const StepTraining training{spec().name, options_.steps, options_.learning_rate};
  const StepTrained trained = train_steps(model_.parameters(), training, loss, held_out, *inputs.progress);
  findings_ = trained.sentences(options_.steps);
  const at::NoGradGuard no_grad;
  const ClassImages& seen = classes.held_out.classes() > 0 ? classes.held_out : classes.train;
  const at::Tensor share =
      share_of_prototype(model_.blocks.front(), rows_of(semantics, at::tensor(seen.labels)).front());
  findings_.push_back(fmt::format("The mean of the images has {:.0f} % of the mixture, knowledge the rest.",
                                  100 * share.mean().item<double>()));
}

MethodState Am3Method::state() const {
  MethodState state;
  if (model_.space == nullptr) return state;
  model_.space->add_to(state);
  state.tensors.emplace_back("log_scale", model_.log_scale);
  for (size_t i = 0; i < model_.blocks.size(); ++i) {
    model_.blocks[i].transform.add_to(state, prefix_of(i, "transform"));
    model_.blocks[i].gate.add_to(state, prefix_of(i, "gate"));
  }
  state.attributes = attributes_;
  return state;
}

void Am3Method::load(const MethodState& state) {
  Am3Model model{std::make_shared<UnitSpace>(state), {}, state.at("log_scale").to(at::kFloat)};
  expect_tensor(model.log_scale, {"log_scale", at::kFloat, {}});
  const int64_t dim = model.space->dim();
  for (size_t i = 0; i < design_.semantics.size(); ++i) {
    Am3Block block{TwoLayers::of(state, prefix_of(i, "transform")), TwoLayers::of(state, prefix_of(i, "gate"))};
    expect_tensor(block.transform.output_bias, {prefix_of(i, "transform") + "output.bias", at::kFloat, {dim}});
    expect_tensor(block.gate.hidden_weight, {prefix_of(i, "gate") + "hidden.weight", at::kFloat, {-1, dim}});
    expect_tensor(block.gate.output_bias, {prefix_of(i, "gate") + "output.bias", at::kFloat, {1}});
    model.blocks.push_back(std::move(block));
  }
  model_ = std::move(model);
  attributes_ = state.attributes;
}

}  // namespace protocom
