#include "fewshot/plda/detail/adapting_run.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/batch_scale.h"
#include "fewshot/plda/detail/batch_space.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/open_run.h"
#include "fewshot/plda/detail/own_directions.h"
#include "fewshot/plda/detail/vb_rows.h"
#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom {
namespace {

/// The images of a task that span the coordinates: labelled ones suffice if images are answered one by one.
enum class Span { kLabelled, kAll };

/// A task's images in the space made from its labelled images.
struct AdaptedTask {
  AdaptedSpace space;
  PlacedImages images;  // [points]
  double shots = 1;     // distinct labelled images per class

  /// Returns the labelled images, including copies.
  [[nodiscard]] ClassRows labelled(const Task& task) const {
    return {images.x.topRows(task.supports()), task.label, task.n};
  }
};

LabelledPlaces distinct_supports(const Task& task, int64_t first, int64_t width) {
  std::vector<const float*> rows;
  for (int64_t i = 0; i < task.supports(); ++i) rows.push_back(task.rows[static_cast<size_t>(i)] + first);
  LabelledPlaces places{distinct_rows(rows, task.label, width), {}, task.n};
  for (const int64_t i : places.rows) places.label.push_back(task.label[static_cast<size_t>(i)]);
  return places;
}

double shots_of(const LabelledPlaces& labelled) {
  return static_cast<double>(labelled.rows.size()) / static_cast<double>(labelled.classes);
}

/// Checks the sum of the rows, which is fast: infinite values and NaN persist in it.
template <typename Rows>
void check_finite(const Rows& rows) {
  if (!std::isfinite(rows.sum())) fail("a feature is not finite: check the program that made the features");
}

/// Adapts a space to the labelled images alone; features [points, d].
AdaptedTask adapt_alone(FloatMatrix features, const LabelledPlaces& labelled, const Task& task, Span span,
                        const PldaAdaptation& adaptation, LeftOut which) {
  const auto dims = static_cast<double>(features.cols());
  const OwnDirections<FloatMatrix> directions(std::move(features), labelled, adaptation);
  const SpanCoordinates coordinates =
      span_coordinates(directions.z, span == Span::kAll ? task.points() : task.supports());
  const ClassRows rows{coordinates.x(labelled.rows, Eigen::all), labelled.label, labelled.classes};
  AdaptedTask result{isotropic_space(rows, dims, adaptation, which), {}, shots_of(labelled)};
  if (span == Span::kAll) result.space.axes = result.space.axes.complete();
  result.images = result.space.axes.place(coordinates.x, coordinates.outside);
  return result;
}

/// A task whose rows are those of a ForeignRows, in its fitted space with the center moved towards its classes.
class ForeignTask {
 public:
  ForeignTask(const Task& task, const AdaptingModel& model)
      : task_(task),
        model_(model),
        labelled_(distinct_supports(task, model.rows->first(), model.rows->last() - model.rows->first())) {}

  [[nodiscard]] AdaptedTask adapt(Span span) const;

 private:
  using FloatRow = Eigen::Map<const Eigen::RowVectorXf>;

  /// Returns f of all images, [points, e].
  [[nodiscard]] DoubleMatrix placed() const;
  /// Returns the features of the rows, [points, d].
  [[nodiscard]] FloatMatrix features() const;

  const Task& task_;
  const AdaptingModel& model_;
  LabelledPlaces labelled_;
};

DoubleMatrix ForeignTask::placed() const {
  const ForeignRows& rows = *model_.rows;
  constexpr float kShortest = 1e-12F;
  const int64_t first = rows.first(), length = rows.last() - first, dims = rows.dims();
  const double share = center_share(model_.model->adaptation, labelled_.classes);
  Eigen::RowVectorXf center = Eigen::RowVectorXf::Zero(rows.last());
  const std::vector<double> weights = labelled_.weights();
  for (size_t i = 0; i < weights.size(); ++i) {
    const FloatRow row(task_.rows[static_cast<size_t>(labelled_.rows[i])], rows.last());
    center += static_cast<float>(share * weights[i]) * row;
  }
  const Eigen::RowVectorXf& offset = rows.space().offset;
  DoubleMatrix f(task_.points(), dims);
  Eigen::RowVectorXf place(dims);  // evaluated first: an expression ending in a conversion is not vectorised
  for (int64_t i = 0; i < f.rows(); ++i) {
    const FloatRow row(task_.rows[static_cast<size_t>(i)], rows.last());
    const float norm = std::max((row.tail(length) - center.tail(length)).norm(), kShortest);
    place = (row.head(dims) - center.head(dims)) * (1 / norm) - offset;
    f.row(i) = place.cast<double>();
  }
  check_finite(f);
  return f;
}

FloatMatrix ForeignTask::features() const {
  const ForeignRows& rows = *model_.rows;
  const FloatSpace& space = rows.space();
  FloatMatrix features(task_.points(), rows.feature_dims());
  for (int64_t i = 0; i < features.rows(); ++i)
    features.row(i) = FloatRow(task_.rows[static_cast<size_t>(i)] + rows.first(), features.cols()) + space.center;
  if (space.root) features = features.cwiseProduct(features.cwiseAbs());
  return features;
}

AdaptedTask ForeignTask::adapt(Span span) const {
  const PldaModel& model = *model_.model;
  const DoubleMatrix f = placed();
  const ClassRows rows{f(labelled_.rows, Eigen::all), labelled_.label, labelled_.classes};
  const DoubleVector between = between_at_hand(rows, model_.between, model.space.leading, model.adaptation);
  AdaptedTask fitted{fitted_space(rows, between, model.adaptation), {}, shots_of(labelled_)};
  if (fitted.space.left_out && rows.images() - rows.classes >= model_.rows->feature_dims()) {
    AdaptedTask alone = adapt_alone(features(), labelled_, task_, span, model.adaptation, LeftOut::kAll);
    if (is_surely_better(alone.space, fitted.space)) return alone;
  }
  fitted.images = fitted.space.axes.place(f);
  return fitted;
}

AdaptedTask adapt(const Task& task, const AdaptingModel& model, Span span) {
  if (model.rows != nullptr) return ForeignTask(task, model).adapt(span);
  FloatMatrix features = matrix_of<float>(task, 0, task.points());
  check_finite(features);
  return adapt_alone(std::move(features), distinct_supports(task, 0, task.width), task, span, model.model->adaptation,
                     LeftOut::kEnough);
}

/// Returns the model's factors for a task, or those found from held-out images; `asked` as in task_scale().
TaskScale scale_of(const PldaModel& model, const AdaptedSpace& space, const Task& task, double asked) {
  const double images = static_cast<double>(task.supports()) / static_cast<double>(task.n);
  TaskScale scale = task_scale(model, images, asked);
  if (!space.left_out) return scale;
  scale.known = scale.chance.slope = space.left_out->scale;
  if (asked <= 0) scale.logits = scale.known;
  return scale;
}

/// Log predictives of a task's queries for its classes and for an unseen class.
struct AdaptedScores {
  DoubleMatrix classes;  // [q, n]
  DoubleVector none;     // [q]

  AdaptedScores(const Task& task, const AdaptedTask& adapted) {
    const ClassRows labelled = adapted.labelled(task);
    const DiagonalSpace& space = adapted.space.axes.space;
    const PlacedImages queries = adapted.images.rows(task.first_query(), task.queries);
    classes = DiagonalClasses(space, labelled.count(), labelled.sums()).log_predictives(queries);
    none = log_densities_around_zero(space, queries);
  }
};

class AdaptingRun : public OpenRun {
 public:
  AdaptingRun(std::shared_ptr<const AdaptingModel> model, double scale) : model_(std::move(model)), scale_(scale) {}

  void answer(const Task& task, float* logits) override {
    const AdaptedTask adapted = adapt(task, *model_, Span::kLabelled);
    const AdaptedScores scores(task, adapted);
    const TaskScale scale = scale_of(*model_->model, adapted.space, task, scale_);
    matrix_at(logits, task) = (scale.logits * scores.classes).cast<float>();
    set_unseen_logits(scores.classes, scores.none, scale, logits);
  }

 private:
  std::shared_ptr<const AdaptingModel> model_;
  double scale_;
};

BatchTask batch_of(const Task& task, const AdaptedTask& adapted) {
  const ClassRows labelled = adapted.labelled(task);
  BatchTask batch;
  batch.unlabelled = adapted.images.x.middleRows(task.supports(), task.unlabelled);
  batch.pooled = task.is_pooled();
  if (batch.pooled) batch.queries = adapted.images.x.middleRows(task.first_query(), task.queries);
  batch.sum = labelled.sums();
  batch.count = labelled.count();
  batch.space = adapted.space.axes.space;
  batch.own_axes = !adapted.space.axes.turned;
  return batch;
}

class AdaptingBatchRun : public OpenRun {
 public:
  AdaptingBatchRun(std::shared_ptr<const AdaptingModel> model, PldaVbOptions vb, double scale)
      : model_(std::move(model)), vb_(std::move(vb)), scale_(scale) {}

  void answer(const Task& task, float* logits) override {
    const AdaptedTask adapted = adapt(task, *model_, Span::kAll);
    BatchTask batch = batch_of(task, adapted);
    if (vb_.proportions == Proportions::kGiven) batch.shares = shares_of(task);
    TaskScale scale = scale_of(*model_->model, adapted.space, task, scale_);
    const double transductive = scale.known * batch_trust(adapted.shots);
    vb_.degrees = adapted.space.degrees;
    const DoubleMatrix answers =
        task.unlabelled > 0 ? batch_scores_following(batch, vb_, transductive) : batch_scores(batch, vb_, transductive);
    const AdaptedScores alone(task, adapted);
    // If there is a pool, queries must not affect one another's answers.
    if (scale_ <= 0) {
      const SingleAnswers single{alone.classes, scale.known, adapted.shots, log_shares_of(batch.shares)};
      scale.logits = task.is_pooled() ? transductive : matching_batch_scale(answers, single);
    }
    matrix_at(logits, task) = (scale.logits * answers).cast<float>();
    set_unseen_logits(alone.classes, alone.none, scale, logits);
  }

 private:
  std::shared_ptr<const AdaptingModel> model_;
  PldaVbOptions vb_;
  double scale_;
};

}  // namespace

AdaptingModel::AdaptingModel(std::shared_ptr<const PldaModel> adapting) : model(std::move(adapting)) {
  if (model->adaptation.isotropic) return;
  rows = std::make_shared<const ForeignRows>(model->space);
  between = model->space.between;
}

std::unique_ptr<TaskRun> adapting_run(std::shared_ptr<const AdaptingModel> model, double scale) {
  return std::make_unique<AdaptingRun>(std::move(model), scale);
}

std::unique_ptr<TaskRun> adapting_batch_run(std::shared_ptr<const AdaptingModel> model, PldaVbOptions vb,
                                            double scale) {
  return std::make_unique<AdaptingBatchRun>(std::move(model), std::move(vb), scale);
}

}  // namespace protocom
