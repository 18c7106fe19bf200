#include "fewshot/trained/ctm.h"

#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>

#include <cmath>

#include "base/error.h"
#include "heads/detail/map_space.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/unit_space.h"
#include "heads/distances.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

constexpr double kFirstScale = 10;
constexpr int64_t kRounds = 10;  // of twenty held-out tasks

/// The learned parameters: kernels [out, in, side, side] with their biases.
struct Model {
  std::shared_ptr<const MapSpace> space;
  at::Tensor concentrator, concentrator_bias;  // [r, c, 3, 3]
  at::Tensor projector, projector_bias;        // [r, ways r, 3, 3]
  at::Tensor reshaper, reshaper_bias;          // [r, c, 1, 1]
  at::Tensor log_scale;                        // [], of the squared distance

  [[nodiscard]] std::vector<at::Tensor> parameters() const {
    return {concentrator, concentrator_bias, projector, projector_bias, reshaper, reshaper_bias, log_scale};
  }
  void fields(StateFields& fields);
  [[nodiscard]] int64_t channels() const { return reshaper.size(0); }
  [[nodiscard]] int64_t ways() const { return projector.size(1) / channels(); }
};

void Model::fields(StateFields& fields) {
  fields.space(space);
  const int64_t c = space->channels();
  fields.tensor("concentrator.weight", concentrator, {-1, c, 3, 3});
  const int64_t r = concentrator.size(0);
  fields.tensor("concentrator.bias", concentrator_bias, {r});
  fields.tensor("projector.weight", projector, {r, -1, 3, 3});
  if (r < 1 || projector.size(1) < r || projector.size(1) % r != 0)
    fail("projector.weight takes {} channels, expected a multiple of {}", projector.size(1), r);
  fields.tensor("projector.bias", projector_bias, {r});
  fields.tensor("reshaper.weight", reshaper, {r, c, 1, 1});
  fields.tensor("reshaper.bias", reshaper_bias, {r});
  fields.tensor("log_scale", log_scale, {});
}

/// Returns what the images of each class have in common, [b, n, r, h, w], with the classes in a canonical order: by the
/// sum of their values.
at::Tensor concentrated(const Model& model, const EpisodeBatch& batch) {
  const at::Tensor each =
      at::conv2d(model.space->maps_of(batch.support), model.concentrator, model.concentrator_bias, 1, 1).relu();
  at::Tensor maps = each.unflatten(0, batch.support.sizes().slice(0, 3));  // [b, n, k, r, h, w]
  const at::Tensor count = count_of_supports(batch).view({maps.size(0), maps.size(1), 1, 1, 1});
  if (batch.support_mask.defined()) maps = maps * batch.support_mask.view({maps.size(0), maps.size(1), -1, 1, 1, 1});
  const at::Tensor classes = maps.sum(2) / count;
  const at::Tensor order = classes.detach().flatten(2).sum(-1).argsort(int64_t{1});  // [b, n]
  return classes.gather(1, order.view({maps.size(0), -1, 1, 1, 1}).expand_as(classes));
}

/// Returns the weight of each channel and place for this task, [b, r, h, w], 1 on average over channels: the mean of
/// the projector's outputs for `ways` neighbouring classes, once round.
at::Tensor mask_of(const Model& model, const EpisodeBatch& batch) {
  const at::Tensor classes = concentrated(model, batch);
  const int64_t n = classes.size(1);
  const at::Tensor first = at::arange(n, at::kLong).unsqueeze(1);
  const at::Tensor seats = (first + at::arange(model.ways(), at::kLong)).remainder(n).flatten();
  const at::Tensor rounds = classes.index_select(1, seats).unflatten(1, {n, -1}).flatten(2, 3);  // [b, n, ways r, h, w]
  const at::Tensor projected = at::conv2d(rounds.flatten(0, 1), model.projector, model.projector_bias, 1, 1);
  const at::Tensor masks = projected.softmax(1).unflatten(0, {classes.size(0), n});
  return static_cast<double>(model.channels()) * masks.mean(1);
}

/// Returns images [b, m, c h w] as weighted for the task, at unit length: [b, m, e].
at::Tensor seen_by(const Model& model, const at::Tensor& images, const at::Tensor& mask, const std::string& compare) {
  const at::Tensor reshaped = at::conv2d(model.space->maps_of(images), model.reshaper, model.reshaper_bias);
  const at::Tensor masked = reshaped.unflatten(0, images.sizes().slice(0, 2)) * mask.unsqueeze(1);
  return unit_vectors(compare == "pooled" ? masked.mean({3, 4}) : masked.flatten(2));
}

at::Tensor logits_of(const Model& model, const EpisodeBatch& batch, const std::string& compare) {
  const at::Tensor mask = mask_of(model, batch);
  EpisodeBatch seen = batch;
  const at::Tensor supports = seen_by(model, batch.support.flatten(1, 2), mask, compare);
  seen.support = supports.unflatten(1, batch.support.sizes().slice(1, 2));
  if (batch.support_mask.defined()) seen.support = seen.support * batch.support_mask.unsqueeze(-1);
  const at::Tensor queries = seen_by(model, batch.query, mask, compare);
  return -model.log_scale.exp() * squared_distances(queries, mean_of_supports(seen));
}

class Ctm : public TrainedHead<Model, CtmOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override {
    model().space->check(context);
    return {[model = model(), compare = options().compare](const EpisodeBatch& batch) -> BatchScores {
      return {logits_of(model, batch, compare), at::Tensor()};
    }};
  }

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

/// Initialises the reshaper as a rotation, so that distances start as those of the maps.
Model untrained_model(std::shared_ptr<const MapSpace> space, const CtmOptions& options) {
  const int64_t c = space->channels();
  const int64_t r = options.channels;
  const torch::nn::Conv2d concentrator(torch::nn::Conv2dOptions(c, r, 3));
  const torch::nn::Conv2d projector(torch::nn::Conv2dOptions(options.ways * r, r, 3));
  Model model{std::move(space),   concentrator->weight,
              concentrator->bias, projector->weight,
              projector->bias,    torch::nn::init::orthogonal_(at::empty({r, c})).view({r, c, 1, 1}),
              at::zeros({r}),     at::full({}, std::log(kFirstScale))};
  for (at::Tensor* tensor : {&model.reshaper, &model.reshaper_bias, &model.log_scale}) tensor->set_requires_grad(true);
  return model;
}

HeadTraining Ctm::begin(const FitInputs& inputs, Rng& rng) {
  const auto classes = std::make_shared<const TrainingClasses>(training_maps(inputs, spec().name, options().shots + 1));
  model() = untrained_model(std::make_shared<MapSpace>(inputs.maps), options());
  HeadTraining training{model().parameters()};
  training.loss = [this, classes, &rng] {
    const TrainingTasks tasks = draw_training_tasks(classes->train, {2, options().ways, options().shots, 15}, rng);
    return task_loss(logits_of(model(), tasks.batch, options().compare), tasks.labels);
  };
  if (classes->held_out.classes() == 0) return training;
  training.held_out = [this, classes] {
    return accuracy_on_tasks(classes->held_out, {20, options().ways, options().shots, 15}, kRounds,
                             [&](const EpisodeBatch& batch) { return logits_of(model(), batch, options().compare); });
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_ctm(const CtmOptions& options) {
  return std::make_unique<methods::Ctm>(options);
}
