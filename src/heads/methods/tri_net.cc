#include "fewshot/trained/tri_net.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/toolbox/linear_fit.h"
#include "heads/detail/class_semantics.h"
#include "heads/detail/map_space.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/two_layers.h"
#include "heads/detail/unit_space.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

constexpr int64_t kRounds = 5;  // of twenty held-out tasks

/// The learned parameters, from maps to semantics and back.
struct Model {
  std::shared_ptr<const MapSpace> space;
  TwoLayers encoder;  // [c] to [s], at every place; averaged over places between its layers
  TwoLayers decoder;  // [s] to [c h w]

  [[nodiscard]] std::vector<at::Tensor> parameters() const {
    std::vector<at::Tensor> all = encoder.parameters();
    const std::vector<at::Tensor> others = decoder.parameters();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
  void fields(StateFields& fields) {
    fields.space(space);
    encoder.fields(fields, "encoder.", {space->channels(), -1, -1});
    decoder.fields(fields, "decoder.", {encoder.out(), -1, space->channels() * space->places()});
  }
  /// Maps places [m, l, c] to [m, s].
  [[nodiscard]] at::Tensor encoded(const at::Tensor& places) const {
    return encoder.output(encoder.hidden(places).mean(1));
  }
  /// Maps [m, s] to places [m, l, c].
  [[nodiscard]] at::Tensor decoded(const at::Tensor& semantics) const {
    return decoder(semantics).unflatten(1, {space->channels(), space->places()}).transpose(1, 2);
  }
};

/// Returns the squared error of the semantics of known classes and of the maps made from them.
at::Tensor loss_of(const Model& model, const at::Tensor& maps, const at::Tensor& semantics) {
  const at::Tensor places = model.space->places_of(maps);
  const at::Tensor stated = model.encoded(places);
  const at::Tensor error = (stated - semantics).square().mean(1, true) * is_known(semantics);
  return error.mean() + (model.decoded(stated) - places).square().mean();
}

/// Supports with their labels, present or missing: each once unchanged, and `made` times from its semantics with noise,
/// the same for all images of a task.
struct Augmented {
  at::Tensor points;  // [b, s, c], at unit length
  at::Tensor labels;  // [b, s, n]
};

/// Returns noise [b, made, s] from the tasks' own seeds.
at::Tensor noise_of(const EpisodeBatch& batch, int64_t made, int64_t width, double size) {
  at::Tensor noise = at::empty({batch.size(), made, width});
  float* values = noise.data_ptr<float>();
  for (int64_t i = 0; i < batch.size(); ++i) {
    Rng rng(batch.seed.empty() ? 0 : batch.seed[static_cast<size_t>(i)]);
    for (int64_t j = 0; j < made * width; ++j) *values++ = static_cast<float>(size * rng.normal());
  }
  return noise;
}

Augmented augmented(const Model& model, const EpisodeBatch& batch, int64_t made, double noise) {
  const int64_t b = batch.size();
  const int64_t n = batch.support.size(1);
  const int64_t k = batch.support.size(2);
  const at::Tensor places = model.space->places_of(batch.support);
  const at::Tensor stated = model.encoded(places).view({b, n * k, 1, -1});
  const at::Tensor moved = stated + noise_of(batch, made, stated.size(3), noise).unsqueeze(1);  // [b, n k, made, s]
  const at::Tensor images = model.decoded(moved.flatten(0, 2)).mean(1).view({b, n * k * made, places.size(2)});
  at::Tensor present = at::eye(n).repeat_interleave(k, 0).expand({b, n * k, n});
  if (batch.support_mask.defined()) present = present * batch.support_mask.flatten(1).unsqueeze(-1);
  return {unit_vectors(at::cat({places.mean(1).view({b, n * k, -1}), images}, 1)),
          at::cat({present, present.repeat_interleave(made, 1)}, 1)};
}

FloatMatrix matrix_of(const at::Tensor& rows) {
  const at::Tensor plain = rows.to(at::kCPU, at::kFloat).contiguous();
  return Eigen::Map<const FloatMatrix>(plain.data_ptr<float>(), plain.size(0), plain.size(1));
}

at::Tensor tensor_of(const FloatMatrix& rows) {
  const at::Tensor copy = at::empty({rows.rows(), rows.cols()});
  Eigen::Map<FloatMatrix>(copy.data_ptr<float>(), rows.rows(), rows.cols()) = rows;
  return copy;
}

at::Tensor logits_of(const Model& model, const EpisodeBatch& batch, const TriNetOptions& options) {
  const Augmented supports = augmented(model, batch, options.made, options.noise);
  const at::Tensor points = supports.points * supports.labels.sum(-1, true);
  const at::Tensor queries = unit_vectors(model.space->places_of(batch.query).mean(1));
  const at::Tensor asked = queries.view({batch.size(), batch.query.size(1), queries.size(1)});
  std::vector<at::Tensor> logits;
  for (int64_t i = 0; i < batch.size(); ++i) {
    const LinearProblem problem = cross_entropy_problem(matrix_of(points[i]), matrix_of(supports.labels[i]), options.c);
    logits.push_back(tensor_of(fitted_logits(problem, matrix_of(asked[i]))));
  }
  return at::stack(logits);
}

class TriNet : public TrainedHead<Model, TriNetOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override {
    model().space->check(context);
    return {[model = model(), options = options()](const EpisodeBatch& batch) -> BatchScores {
      return {logits_of(model, batch, options), at::Tensor()};
    }};
  }

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

HeadTraining TriNet::begin(const FitInputs& inputs, Rng& rng) {
  const KnowledgeTable& knowledge = knowledge_of(inputs, spec().name);
  const at::Tensor semantics =
      class_semantics(options().semantics, knowledge, *inputs.class_names, knowledge.attributes);
  const auto classes = std::make_shared<const TrainingClasses>(training_maps(inputs, spec().name, 2));
  const auto space = std::make_shared<MapSpace>(inputs.maps);
  model() = {space, TwoLayers::untrained({space->channels(), options().hidden, semantics.size(1)}),
             TwoLayers::untrained({semantics.size(1), options().hidden, space->channels() * space->places()})};
  HeadTraining training{model().parameters()};
  training.loss = [this, classes, semantics, &rng] {
    const ImageDraw drawn = draw_images(classes->train, options().batch, rng);
    return loss_of(model(), drawn.features, rows_at(semantics, drawn.labels));
  };
  if (classes->held_out.classes() == 0) return training;
  training.held_out = [this, classes] {
    return accuracy_on_tasks(classes->held_out, {20, 5, 1, 15}, kRounds,
                             [&](const EpisodeBatch& batch) { return logits_of(model(), batch, options()); });
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_tri_net(const TriNetOptions& options) {
  return std::make_unique<methods::TriNet>(options);
}
