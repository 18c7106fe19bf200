#include "fewshot/plda/detail/method.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/batch_space.h"
#include "fewshot/plda/detail/findings.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/plda/fit.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

constexpr const char* kFitted = "fitted";
constexpr const char* kNone = "none";

/// How a space follows classes unrelated to those it was fitted on (docs/methods/plda-own-photos.md).
constexpr PldaAdaptation foreign_space() {
  PldaAdaptation adaptation;
  adaptation.degrees = 1000;
  adaptation.scale_degrees = 100;
  adaptation.center_classes = 5;
  adaptation.added_between = 0.06;
  return adaptation;
}

/// The share of an isotropic covariance (a multiple of I in the space of z) in the prior of a foreign space's
/// within-class covariance (docs/methods/plda-own-photos.md).
constexpr double kIsotropicShare = 0.3;

/// The scale of log predictives in a foreign space before it is adapted.
constexpr double kForeignScale = 0.2;

/// beta of variational EM in adapted spaces: with a smaller one, many classes of many images merge.
constexpr double kAdaptedTrust = 0.5;

/// How far a batch may deviate from the answers of the labelled images in adapted spaces, where it lost up to two
/// points against single photos (docs/log/plda.md).
constexpr double kAdaptedPlausible = 0.3;
constexpr double kAdaptedLeastWeight = 0.5;

/// Sets the options for batches in a space that follows the labelled images.
void follow_images(PldaVbOptions& batches) {
  batches.spread = 0;
  batches.trust = kAdaptedTrust;
  batches.plausible = kAdaptedPlausible;
  batches.least_weight = kAdaptedLeastWeight;
}

/// Returns the model used if nothing was fitted: from the labelled images alone. The numbers were chosen on the val
/// classes of Tiny-ImageNet-100 and CUB-100 (docs/methods/plda-own-photos.md).
PldaModel unfitted_model() {
  PldaModel model;
  model.space.leading = 1;
  model.adaptation.degrees = 1000;
  model.adaptation.center_classes = 20;
  model.adaptation.isotropic = true;
  follow_images(model.vb);
  set_scale(kDefaultScale, model);
  return model;
}

PldaPrepared prepared_without_knowledge(std::shared_ptr<const PldaModel> model) {
  PldaPrepared result;
  result.model = std::move(model);
  result.rows = std::make_shared<const PldaRows>(*result.model);
  const PldaLayout& layout = result.rows->layout();
  result.uninformed_prior = in_parts(result.model->prior({}, 1), layout);
  result.variance = in_parts(result.model->space.between, layout);
  result.never_seen = class_never_seen(result.uninformed_prior, result.variance, layout);
  return result;
}

/// Returns the method for a prepared model, with the runs of `made`.
PreparedMethod prepared_method(const std::shared_ptr<const PldaPrepared>& prepared,
                               const PldaMethod::OfPrepared& made) {
  PreparedMethod method = made(prepared);
  method.space = prepared->rows;
  method.fewest_shots = 0;
  method.points = std::make_shared<const PldaPoints>(prepared);
  return method;
}

/// Returns features of a task's first `count` points, [count, d].
FloatMatrix features_of(const Task& task, int64_t count) {
  FloatMatrix features(count, task.width);
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(task.rows[static_cast<size_t>(i)], task.width, features.row(i).data());
  return features;
}

/// Adapts a model with a pool of unlabelled images to the labelled ones of each task, whose rows are features.
class PoolRun : public TaskRun {
 public:
  PoolRun(std::shared_ptr<const PldaModel> model, PldaMethod::OfPrepared made)
      : model_(std::move(model)), made_(std::move(made)) {}

  void answer(const Task& task, float* logits) override {
    const FloatMatrix supports = features_of(task, task.supports());
    const DoubleMatrix images = supports.cast<double>();
    PldaModel model = protocom::adapted(*model_, images, task.label, task.n);
    const SoftSupports unlabelled = follow_unlabelled(model, images, task.label, task.n);
    const auto prepared = std::make_shared<const PldaPrepared>(
        prepared_without_knowledge(std::make_shared<const PldaModel>(std::move(model))));
    const PreparedMethod method = prepared_method(prepared, made_);
    const TaskImages labelled = with_soft_supports(TaskImages::of(supports, task.label, task.n), unlabelled);
    const FloatMatrix queries = features_of(task, task.points()).bottomRows(task.queries);
    const QueryScores scores = answer_of(method, labelled.mapped(method.space.get()), queries);
    Eigen::Map<FloatMatrix>(logits, task.queries, task.n) = scores.logits;
    unseen_ = scores.unseen;
  }
  [[nodiscard]] const float* unseen() const override { return unseen_.data(); }

 private:
  std::shared_ptr<const PldaModel> model_;
  PldaMethod::OfPrepared made_;
  Eigen::VectorXf unseen_;
};

}  // namespace

std::vector<std::string> prior_choices() {
  std::vector<std::string> choices = prior_names();
  choices.insert(choices.begin(), {kFitted, kNone});
  return choices;
}

PldaMethod::PldaMethod(std::string prior, TextWeights text, FixedSpace fixed)
    : prior_(std::move(prior)),
      text_(text),
      fixed_(fixed),
      model_(std::make_shared<const PldaModel>(unfitted_model())) {}

PreparedMethod PldaMethod::of_photos(const MethodContext& context) const {
  if (!model_->adaptation.adapts()) return prepared_method(prepared(context), of_prepared());
  const auto model = adapting_model();
  PreparedMethod method;
  if (model->unlabelled.defined()) {
    method.make_run = [model, made = of_prepared()] { return std::make_unique<PoolRun>(model, made); };
    return method;
  }
  const auto adapting = std::make_shared<const AdaptingModel>(model);
  method.space = adapting->rows;
  method.make_run = adapting_runs(adapting);
  return method;
}

PreparedMethod PldaMethod::prepare(const MethodContext& context) const {
  PreparedMethod photos = of_photos(context);
  if (prior_ != kTextPrior) return photos;
  if (context.knowledge == nullptr || context.class_names == nullptr)
    fail_usage("'{}' needs {}: protocom knowledge embeddings makes them a knowledge file", label(),
               to_string(Need::kMatchedText));
  return with_text(std::move(photos), context, text_);
}

AdaptedMethod PldaMethod::adapted(const FeatureRows& features, const std::vector<int64_t>& labels,
                                  int64_t classes) const {
  if (!model_->adaptation.adapts()) return {};
  PldaModel made = protocom::adapted(*adapting_model(), features.cast<double>(), labels, classes);
  AdaptedMethod answer;
  if (made.unlabelled.defined()) answer.unlabelled = follow_unlabelled(made, features.cast<double>(), labels, classes);
  // Calibration compares familiarities with and without an image or a class (recognizer/calibration.h): they must not
  // depend on a scale that is estimated each time, as the mean over the classes does.
  made.known_by_best = true;
  made.known_slope = {kDefaultScale, kDefaultScale, kDefaultScale};
  std::unique_ptr<Method> result = make_method(label());
  result->load(state_of(made, {}));
  static_cast<PldaMethod&>(*result).findings_ = {made.chosen};
  answer.method = std::move(result);
  return answer;
}

std::shared_ptr<const PldaModel> PldaMethod::adapting_model() const {
  auto model = std::make_shared<PldaModel>(*model_);
  model->adaptation.unlabelled = answers_batches() || model->unlabelled.defined();
  model->adaptation.fixed_degrees = fixed_.degrees;
  model->adaptation.fixed_class_means = fixed_.class_means;
  return model;
}

std::unique_ptr<Method> PldaMethod::as_space() const {
  PldaModel space = *model_;
  space.knowledge = nullptr;
  if (!space.adaptation.adapts()) {
    space.adaptation = foreign_space();
    space.space = with_isotropic_share(space.space, kIsotropicShare);
    set_scale(kForeignScale, space);
    space.residual = space.space.between;
    follow_images(space.vb);
  }
  std::unique_ptr<Method> result = make_method(spec().name);
  result->load(state_of(space, {}));
  return result;
}

void PldaMethod::fit(const FitInputs& inputs) {
  PldaFitInputs given{inputs.base.features, inputs.base.labels, inputs.val.features, inputs.val.labels, {}};
  attributes_.clear();
  PldaFitOptions options;
  options.seed = inputs.seed;
  if (inputs.knowledge != nullptr && uses_fitted_knowledge()) {
    attributes_ = inputs.knowledge->attributes;
    given.descriptions = align_knowledge(*inputs.knowledge, *inputs.class_names, attributes_);
    options.only_if_it_pays = prior_ == kFitted && inputs.knowledge_use == KnowledgeUse::kAuto;
    if (prior_ != kFitted) options.prior = prior_;
  } else if (prior_ != kFitted && uses_fitted_knowledge()) {
    fail_usage("the prior '{}' of '{}' needs {}", prior_, spec().name, to_string(Need::kKnowledge));
  }
  PldaFit found = fit_plda(given, options);
  findings_ = findings_of(found);
  for (const std::string& setting : settings_of(found)) logger().debug("{}", setting);
  details_ = details_of(found);
  if (found.left_out) attributes_.clear();
  model_ = std::make_shared<const PldaModel>(std::move(found.model));
}

bool PldaMethod::uses_fitted_knowledge() const { return prior_ != kNone && prior_ != kTextPrior; }

MethodState PldaMethod::state() const { return state_of(*model_, attributes_); }

void PldaMethod::load(const MethodState& state) {
  auto model = std::make_shared<const PldaModel>(plda_model_of(state));
  const std::string own = model->knowledge ? model->knowledge->name() : kNone;
  if (prior_ != kFitted && uses_fitted_knowledge() && prior_ != own)
    fail_usage("'{}' was fitted with the prior '{}', not '{}': fit it with that prior", spec().name, own, prior_);
  model_ = std::move(model);
  attributes_ = state.attributes;
}

std::shared_ptr<const PldaPrepared> PldaMethod::prepared(const MethodContext& context) const {
  auto result = std::make_shared<PldaPrepared>(prepared_without_knowledge(model_));
  const PldaLayout& layout = result->rows->layout();
  if (!model_->knowledge || !uses_fitted_knowledge()) return result;
  if (context.knowledge == nullptr || context.class_names == nullptr)
    fail_usage("'{0}' was fitted with knowledge of the classes and needs it: give knowledge, or use {0}:prior=none",
               spec().name);
  const auto classes = static_cast<int64_t>(context.class_names->size());
  result->classes =
      in_parts(model_->prior(align_knowledge(*context.knowledge, *context.class_names, attributes_), classes), layout);
  result->variance = in_parts(model_->residual, layout);
  return result;
}

PldaRowBelief PldaPrepared::prior_of(const std::vector<int64_t>& which, int64_t n) const {
  if (classes.classes() > 0 && !which.empty()) return classes.of(which);
  return uninformed_prior.of(std::vector<int64_t>(static_cast<size_t>(n), 0));
}

TaskClasses::TaskClasses(const PldaPrepared& prepared, const Task& task)
    : prior(prepared.prior_of(task.classes, task.n)),
      count(Eigen::VectorXf::Zero(task.n)),
      sum(FloatMatrix::Zero(task.n, task.dim)) {
  for (size_t i = 0; i < task.label.size(); ++i) {
    const int64_t own = task.label[i];
    const float weight = task.weights.empty() ? 1 : task.weights[i];
    count[own] += weight;
    add_scaled_row(weight, task.rows[i], task.dim, sum.row(own).data());
  }
}

FloatMatrix TaskClasses::log_predictives(const PldaPrepared& prepared, const std::vector<const float*>& rows) const {
  return protocom::log_predictives(prior, prepared.variance, count, sum, prepared.rows->layout(), rows);
}

std::vector<const float*> query_rows(const Task& task) {
  return {task.rows.begin() + task.first_query(), task.rows.end()};
}

FloatMatrix PldaPrepared::points(const FloatMatrix& images) const {
  const PldaLayout& layout = rows->layout();
  const PldaRowVariance between = in_parts(model->space.between, layout);
  const auto weight = [](float b) { return std::sqrt(b / (1 + 2 * b)); };
  FloatMatrix points(images.rows(), layout.padded + layout.rest());
  points << images.leftCols(layout.padded) * between.varied.unaryExpr(weight).asDiagonal(),
      weight(between.rest) * images.middleCols(layout.rest_begin(), layout.rest());
  return points;
}

}  // namespace protocom
