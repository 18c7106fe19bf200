#include "fewshot/trained/meta_baseline.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "heads/cosine_classifier.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"

namespace protocom::methods {
namespace {

constexpr double kFirstScale = 10;

/// The learned parameters.
struct Model {
  at::Tensor log_scale;  // []

  void fields(StateFields& fields) { fields.tensor("log_scale", log_scale, {}); }
};

class MetaBaseline : public TrainedHead<Model, MetaBaselineOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext&) const override {
    return {[log_scale = model().log_scale](const EpisodeBatch& batch) -> BatchScores {
      const at::Tensor prototypes = mean_prototypes(statistics_of(batch));
      return {logits(batch, prototypes, log_scale), prototypes};
    }};
  }

 private:
  static at::Tensor logits(const EpisodeBatch& batch, const at::Tensor& prototypes, const at::Tensor& log_scale) {
    return log_scale.exp() * protocom::cosine_similarity(batch.query, prototypes);
  }

  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

HeadTraining MetaBaseline::begin(const FitInputs& inputs, Rng& rng) {
  // Uses features unchanged: the cosine does not depend on scale.
  TrainingClasses classes = training_classes(inputs, nullptr, spec().name, options().shots + 1);
  const at::Tensor log_scale = at::full({}, std::log(kFirstScale)).requires_grad_();
  model() = {log_scale};
  // The scale changes no answer, so no step is chosen by validation. It is learned on held-out classes, which the
  // backbone has not seen, since it should suit novel classes.
  ClassImages& from = classes.held_out.classes() > 0 ? classes.held_out : classes.train;
  TrainingTaskShape shape;
  shape.shots = options().shots;
  HeadTraining training{{log_scale}};
  training.loss = [from = std::move(from), shape, log_scale, &rng] {
    const TrainingTasks tasks = draw_training_tasks(from, shape, rng);
    return task_loss(logits(tasks.batch, mean_prototypes(statistics_of(tasks.batch)), log_scale), tasks.labels);
  };
  training.then = [log_scale]() -> std::vector<std::string> {
    return {fmt::format("Factor of the cosine: {:.1f}.", log_scale.exp().item<double>())};
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_meta_baseline(const MetaBaselineOptions& options) {
  return std::make_unique<methods::MetaBaseline>(options);
}
