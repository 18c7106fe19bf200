#include "heads/detail/am3_method.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "heads/distances.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

at::Tensor with_dropout(const TwoLayers& layers, const at::Tensor& x, Dropout dropout) {
  const at::Tensor hidden = layers.hidden(x);
  return layers.output(dropout.share > 0 ? at::dropout(hidden, dropout.share, true) : hidden);
}

/// Transformed semantics of classes: g(s) and lambda.
struct TransformedSemantics {
  at::Tensor transformed, share;
};

TransformedSemantics transformed_semantics(const Am3Block& block, const at::Tensor& semantics, Dropout dropout) {
  const at::Tensor transformed = with_dropout(block.transform, semantics, dropout);
  return {transformed, with_dropout(block.gate, transformed, dropout).sigmoid()};
}

/// Returns lambda of semantics [..., s], [..., 1] in (0, 1): 1 leaves the prototype unchanged.
at::Tensor share_of_prototype(const Am3Block& block, const at::Tensor& semantics) {
  return transformed_semantics(block, semantics, {}).share;
}

/// Returns p' of prototypes [..., d] and semantics [..., s]. A class without a description (zeros) keeps p.
at::Tensor mixed(const Am3Block& block, const at::Tensor& prototypes, const at::Tensor& semantics, Dropout dropout) {
  const auto [transformed, lambda] = transformed_semantics(block, semantics, dropout);
  const at::Tensor w = transformed / std::sqrt(static_cast<double>(prototypes.size(-1)));
  return at::where(is_known(semantics), lambda * prototypes + (1 - lambda) * w, prototypes);
}

/// Returns the outputs of a chain of blocks, each of which takes the previous output and semantics of its own; the last
/// is the answer.
std::vector<at::Tensor> chained(const std::vector<Am3Block>& blocks, const at::Tensor& prototypes,
                                const std::vector<at::Tensor>& semantics, Dropout dropout = {}) {
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < blocks.size(); ++i)
    outputs.push_back(mixed(blocks[i], i == 0 ? prototypes : outputs.back(), semantics[i], dropout));
  return outputs;
}

at::Tensor class_margins(const at::Tensor& semantics, const MarginLaw& law) {
  const at::Tensor unit = unit_vectors(semantics);
  const at::Tensor margins = law.alpha * at::matmul(unit, unit.transpose(-1, -2)) + law.beta;
  return margins * (1 - at::eye(semantics.size(-2)));
}

/// Returns the logits [b, q, n] plus the margins [b, n, n] of each query's class int64 [b, q].
at::Tensor with_margins(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& margins) {
  const at::Tensor of_query = labels.unsqueeze(-1).expand(logits.sizes());
  return logits + margins.gather(1, of_query);
}

constexpr double kFirstScale = 10;
constexpr int64_t kHeldOutTasks = 200;

std::vector<at::Tensor> rows_of(const std::vector<at::Tensor>& semantics, const at::Tensor& classes) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& semantic : semantics) rows.push_back(rows_at(semantic, classes));
  return rows;
}

/// Reports how much of a class the first block takes from its images, on average over classes of these semantics.
std::vector<std::string> share_found(const Am3Block& block, const at::Tensor& semantics) {
  const at::NoGradGuard no_grad;
  return {fmt::format("The mean of the images has {:.0f} % of the mixture, knowledge the rest.",
                      100 * share_of_prototype(block, semantics).mean().item<double>())};
}

std::string prefix_of(size_t block, const char* part) { return fmt::format("block{}.{}.", block, part); }

}  // namespace

std::vector<at::Tensor> Am3Model::parameters() const {
  std::vector<at::Tensor> all = {log_scale};
  for (const Am3Block& block : blocks) {
    for (const at::Tensor& parameter : block.transform.parameters()) all.push_back(parameter);
    for (const at::Tensor& parameter : block.gate.parameters()) all.push_back(parameter);
  }
  return all;
}

void Am3Model::fields(StateFields& fields) {
  fields.space(space);
  fields.tensor("log_scale", log_scale, {});
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].transform.fields(fields, prefix_of(i, "transform"), {-1, -1, space->dim()});
    blocks[i].gate.fields(fields, prefix_of(i, "gate"), {space->dim(), -1, 1});
  }
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

std::vector<at::Tensor> Am3Method::semantics_of(const KnowledgeTable& knowledge,
                                                const std::vector<std::string>& class_names) const {
  std::vector<at::Tensor> semantics;
  for (const std::string& name : design_.semantics)
    semantics.push_back(class_semantics(name, knowledge, class_names, attributes()));
  return semantics;
}

BatchScorer Am3Method::scorer(const MethodContext& context) const {
  const std::vector<at::Tensor> semantics = semantics_of(*context.knowledge, *context.class_names);
  for (size_t i = 0; i < semantics.size(); ++i) {
    const int64_t fitted = model().blocks[i].transform.in();
    if (semantics[i].size(1) != fitted)
      fail("'{}' was fitted on descriptions of {} dimensions ({}), found {}: give the same kind of knowledge",
           spec().name, fitted, design_.semantics[i], semantics[i].size(1));
  }
  const auto answer = [model = model(), semantics](const EpisodeBatch& batch) -> BatchScores {
    const at::Tensor prototypes =  // nearest prototype after the chain
        chained(model.blocks, mean_of_supports(batch), rows_of(semantics, classes_of(batch))).back();
    return {model.logits(batch.query, prototypes), model.space->back(prototypes)};
  };
  return {answer, model().space};
}

Am3Model Am3Method::blank() const {
  Am3Model model;
  model.blocks.resize(design_.semantics.size());
  return model;
}

Am3Model Am3Method::untrained(const FitInputs& inputs, const std::vector<at::Tensor>& semantics) const {
  Am3Model model{std::make_shared<UnitSpace>(options().space, inputs.base.features), {}, {}};
  const int64_t dim = model.space->dim();
  for (const at::Tensor& semantic : semantics) {
    model.blocks.push_back({TwoLayers::untrained({semantic.size(1), options().hidden, dim}),
                            TwoLayers::untrained({dim, options().hidden, 1})});
  }
  model.log_scale = at::full({}, std::log(kFirstScale)).requires_grad_();
  return model;
}

HeadTraining Am3Method::begin(const FitInputs& inputs, Rng& rng) {
  const auto semantics = semantics_of(*inputs.knowledge, *inputs.class_names);
  model() = untrained(inputs, semantics);
  const auto classes = std::make_shared<const TrainingClasses>(
      training_classes(inputs, model().space.get(), spec().name, options().shots + 1));
  TrainingTaskShape shape;
  shape.ways = options().ways;
  shape.shots = options().shots;
  HeadTraining training{model().parameters()};
  training.loss = [this, classes, semantics, shape, &rng] {
    const TrainingTasks tasks = draw_training_tasks(classes->train, shape, rng);
    return am3_loss(model(), tasks, rows_of(semantics, tasks.batch.classes), design_, {options().dropout});
  };
  const bool holds_out = classes->held_out.classes() > 0;
  if (holds_out) {
    training.held_out = [this, semantics,
                         unseen =
                             draw_training_tasks(classes->held_out, {kHeldOutTasks, 5, options().shots, 15}, rng)] {
      const auto prototypes =
          chained(model().blocks, mean_of_supports(unseen.batch), rows_of(semantics, unseen.batch.classes)).back();
      return task_accuracy(model().logits(unseen.batch.query, prototypes), unseen.labels);
    };
  }
  training.then = [this, semantics, seen = (holds_out ? classes->held_out : classes->train).labels] {
    return share_found(model().blocks.front(), rows_of(semantics, at::tensor(seen)).front());
  };
  return training;
}

}  // namespace protocom
