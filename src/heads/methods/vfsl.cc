#include "fewshot/trained/vfsl.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "heads/detail/diagonal_gaussian.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/two_layers.h"
#include "heads/detail/unit_space.h"

namespace protocom::methods {
namespace {

constexpr int64_t kHeldOutTasks = 200;
constexpr double kFirstSpread = 0.05;   // per dimension, so that logits start at -10 |q - m|^2
constexpr double kFirstVariance = 0.5;  // of a mean inferred from one image, over all dimensions

/// The learned parameters.
struct Model {
  std::shared_ptr<const UnitSpace> space;
  TwoLayers inference;     // [d + 1] to [2 d]: shift of the mean, log variance less the first one
  DiagonalGaussian prior;  // of a class's mean, [d]
  at::Tensor log_spread;   // [d], variance of images around their class's mean

  [[nodiscard]] std::vector<at::Tensor> parameters() const {
    std::vector<at::Tensor> all = inference.parameters();
    all.insert(all.end(), {prior.mean, prior.log_variance, log_spread});
    return all;
  }
  void fields(StateFields& fields) {
    fields.space(space);
    const int64_t d = space->dim();
    inference.fields(fields, "inference.", {d + 1, -1, 2 * d});
    fields.tensor("prior.mean", prior.mean, {d});
    fields.tensor("prior.log_variance", prior.log_variance, {d});
    fields.tensor("log_spread", log_spread, {d});
  }
};

/// Returns q(z | supports) from their mean [b, n, d] and number [b, n].
DiagonalGaussian inferred(const TwoLayers& inference, const at::Tensor& mean, const at::Tensor& count) {
  const auto d = static_cast<double>(mean.size(-1));
  const at::Tensor number = count.log().unsqueeze(-1);
  const at::Tensor found = inference(at::cat({mean * std::sqrt(d), number}, -1));
  const std::vector<at::Tensor> parts = found.chunk(2, -1);
  return {mean + parts[0] / std::sqrt(d), parts[1] + std::log(kFirstVariance / d) - number};
}

/// Returns log N(q; m, spread + v): the density of images with the class mean integrated out.
at::Tensor predictive(const Model& model, const EpisodeBatch& batch, const DiagonalGaussian& q) {
  return diagonal_log_density(batch.query, q.mean, model.log_spread.exp() + q.log_variance.exp());
}

/// Returns -ELBO per query: cross-entropy of one draw of every class's mean, plus `weight` times the divergence from
/// the prior.
at::Tensor negative_elbo(const Model& model, const TrainingTasks& tasks, double weight) {
  const DiagonalGaussian q = inferred(model.inference, mean_of_supports(tasks.batch), count_of_supports(tasks.batch));
  const at::Tensor z = q.mean + (0.5 * q.log_variance).exp() * at::randn_like(q.mean);
  const at::Tensor logits = diagonal_log_density(tasks.batch.query, z, model.log_spread.exp().expand_as(z));
  const auto queries = static_cast<double>(tasks.labels.size(1));
  return task_loss(logits, tasks.labels) + weight / queries * divergence(q, model.prior).sum(1).mean();
}

class Vfsl : public TrainedHead<Model, VfslOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext&) const override {
    const auto answer = [model = model()](const EpisodeBatch& batch) -> BatchScores {
      const DiagonalGaussian q = inferred(model.inference, mean_of_supports(batch), count_of_supports(batch));
      return {predictive(model, batch, q), model.space->back(q.mean)};
    };
    return {answer, model().space};
  }

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

/// Initialises the prior with the base classes' moments, and inference with the supports' mean.
Model untrained_model(const ClassImages& base, std::shared_ptr<const UnitSpace> space, int64_t hidden) {
  const int64_t d = space->dim();
  const at::Tensor centres = base.centres();
  Model model{std::move(space),
              TwoLayers::untrained({d + 1, hidden, 2 * d}),
              {centres.mean(0), centres.var(0, false).clamp_min(1e-6).log()},
              at::full({d}, std::log(kFirstSpread))};
  const at::NoGradGuard no_grad;
  model.inference.output_weight.zero_();
  model.inference.output_bias.zero_();
  for (at::Tensor* tensor : {&model.prior.mean, &model.prior.log_variance, &model.log_spread})
    tensor->set_requires_grad(true);
  return model;
}

HeadTraining Vfsl::begin(const FitInputs& inputs, Rng& rng) {
  auto space = std::make_shared<UnitSpace>(options().space, inputs.base.features);
  const auto classes =
      std::make_shared<const TrainingClasses>(training_classes(inputs, space.get(), spec().name, options().shots + 1));
  model() = untrained_model(classes->train, std::move(space), options().hidden);
  TrainingTaskShape shape;
  shape.ways = options().ways;
  shape.shots = options().shots;
  HeadTraining training{model().parameters()};
  training.loss = [this, classes, shape, &rng] {
    return negative_elbo(model(), draw_training_tasks(classes->train, shape, rng), options().divergence);
  };
  if (classes->held_out.classes() == 0) return training;
  training.held_out = [this,
                       unseen = draw_training_tasks(classes->held_out, {kHeldOutTasks, 5, options().shots, 15}, rng)] {
    const EpisodeBatch& batch = unseen.batch;
    const DiagonalGaussian q = inferred(model().inference, mean_of_supports(batch), count_of_supports(batch));
    return task_accuracy(predictive(model(), batch, q), unseen.labels);
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_vfsl(const VfslOptions& options) {
  return std::make_unique<methods::Vfsl>(options);
}
