#include "fewshot/trained/sem_align.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "heads/cosine_classifier.h"
#include "heads/detail/class_semantics.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/two_layers.h"
#include "heads/detail/unit_space.h"

namespace protocom::methods {
namespace {

constexpr double kSlope = 0.2;
constexpr int64_t kHeldOutTasks = 200;
constexpr double kFirstShare = 0.5;
constexpr int64_t kGrid = 100;  // steps of the share of the mean
/// Shots for which the share is chosen; it is interpolated between them.
constexpr int64_t kShots[] = {1, 5};

/// The learned parameters.
struct Model {
  std::shared_ptr<const UnitSpace> space;
  TwoLayers align;   // G: [s + d] to [d]
  at::Tensor share;  // [2], of the mean, for kShots

  void fields(StateFields& fields) {
    fields.space(space);
    align.fields(fields, "align.", {-1, -1, space->dim()}, kSlope);
    fields.tensor("share", share, {2});
  }
};

/// Returns G of features [..., d] and their classes' semantics [..., s]: [..., d]. Its inputs and outputs are of size
/// 1.
at::Tensor aligned(const TwoLayers& align, const at::Tensor& features, const at::Tensor& semantics) {
  const double size = std::sqrt(static_cast<double>(features.size(-1)));
  return align(at::cat({semantics, size * features}, -1)) / size;
}

/// Returns the mean of G over each class's supports; for a class without a description the mean of the supports.
at::Tensor reconstructed(const TwoLayers& align, const EpisodeBatch& batch, const at::Tensor& semantics) {
  at::Tensor each = aligned(align, batch.support, semantics.unsqueeze(2).expand({-1, -1, batch.support.size(2), -1}));
  if (batch.support_mask.defined()) each = each * batch.support_mask.unsqueeze(-1);
  const at::Tensor mean = each.sum(2) / count_of_supports(batch).unsqueeze(-1);
  return at::where(is_known(semantics), mean, mean_of_supports(batch));
}

/// Returns the share of the mean for `count` supports [b, n]: [b, n, 1].
at::Tensor share_for(const at::Tensor& share, const at::Tensor& count) {
  const at::Tensor place = ((count - kShots[0]) / (kShots[1] - kShots[0])).clamp(0, 1);
  return at::lerp(share[0], share[1], place).unsqueeze(-1);
}

/// Measures the accuracy of mixtures of mean and network on tasks.
class Trial {
 public:
  Trial(const TwoLayers& align, const TrainingTasks& tasks, const at::Tensor& semantics)
      : tasks_(tasks),
        mean_(mean_of_supports(tasks.batch)),
        made_(reconstructed(align, tasks.batch, rows_at(semantics, tasks.batch.classes))) {}

  [[nodiscard]] double accuracy(double share) const {
    const at::Tensor prototypes = share * mean_ + (1 - share) * made_;
    return task_accuracy(protocom::cosine_similarity(tasks_.batch.query, prototypes), tasks_.labels);
  }

 private:
  TrainingTasks tasks_;
  at::Tensor mean_, made_;
};

class SemAlign : public TrainedHead<Model, SemAlignOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override;

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
  std::vector<std::string> choose_share(const ClassImages& held_out, const at::Tensor& semantics, Rng& rng);
};

BatchScorer SemAlign::scorer(const MethodContext& context) const {
  const at::Tensor semantics =
      class_semantics(options().semantics, *context.knowledge, *context.class_names, attributes());
  const int64_t fitted = model().align.in() - model().space->dim();
  if (semantics.size(1) != fitted)
    fail("'sem-align' was fitted on descriptions of {} dimensions ({}), found {}: give the same kind of knowledge",
         fitted, options().semantics, semantics.size(1));
  Model model = this->model();
  if (options().share >= 0) model.share = at::full({2}, options().share);
  const auto answer = [model, semantics, scale = options().scale](const EpisodeBatch& batch) -> BatchScores {
    const at::Tensor k = share_for(model.share, count_of_supports(batch));
    const at::Tensor made = reconstructed(model.align, batch, rows_at(semantics, classes_of(batch)));
    const at::Tensor prototypes = k * mean_of_supports(batch) + (1 - k) * made;
    return {scale * protocom::cosine_similarity(batch.query, prototypes), model.space->back(prototypes)};
  };
  return {answer, model.space};
}

/// Chooses the best of a grid on tasks of held-out classes, for each number of shots; returns sentences about the
/// choice.
std::vector<std::string> SemAlign::choose_share(const ClassImages& held_out, const at::Tensor& semantics, Rng& rng) {
  std::vector<std::string> findings;
  const at::NoGradGuard no_grad;
  for (int64_t i = 0; i < 2; ++i) {
    const Trial trial(model().align, draw_training_tasks(held_out, {kHeldOutTasks, 5, kShots[i], 15}, rng), semantics);
    double best = -1;
    for (int64_t j = 0; j <= kGrid; ++j) {
      const double share = static_cast<double>(j) / kGrid;
      const double right = trial.accuracy(share);
      if (right <= best) continue;
      best = right;
      model().share[i] = share;
    }
    findings.push_back(
        fmt::format("Share of the mean with {} image{} per class: {:.2f} ({:.1f} % on held-out classes).", kShots[i],
                    i == 0 ? "" : "s", model().share[i].item<double>(), 100 * best));
  }
  return findings;
}

HeadTraining SemAlign::begin(const FitInputs& inputs, Rng& rng) {
  const at::Tensor semantics =
      class_semantics(options().semantics, *inputs.knowledge, *inputs.class_names, attributes());
  const auto space = std::make_shared<UnitSpace>(options().space, inputs.base.features);
  const int64_t dim = space->dim();
  model() = {space, TwoLayers::untrained({semantics.size(1) + dim, options().hidden, dim}, kSlope),
             at::full({2}, kFirstShare)};
  const auto classes =
      std::make_shared<const TrainingClasses>(training_classes(inputs, space.get(), spec().name, kShots[1] + 1));
  HeadTraining training{model().align.parameters()};
  training.loss = [this, classes, semantics, &rng, centres = classes->train.centres()] {
    const ImageDraw drawn = draw_images(classes->train, options().batch, rng);
    const at::Tensor made = aligned(model().align, drawn.features, rows_at(semantics, drawn.labels));
    return std::sqrt(static_cast<double>(centres.size(1))) * at::l1_loss(made, centres.index_select(0, drawn.places));
  };
  if (classes->held_out.classes() == 0) return training;
  training.held_out = [this, semantics,
                       unseen = draw_training_tasks(classes->held_out, {kHeldOutTasks, 5, kShots[0], 15}, rng)] {
    return Trial(model().align, unseen, semantics).accuracy(kFirstShare);
  };
  training.then = [this, classes, semantics, &rng] { return choose_share(classes->held_out, semantics, rng); };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_sem_align(const SemAlignOptions& options) {
  return std::make_unique<methods::SemAlign>(options);
}
