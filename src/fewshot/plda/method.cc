#include "fewshot/plda/detail/method.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/log.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/batch_space.h"
#include "fewshot/plda/detail/findings.h"
#include "fewshot/plda/detail/foreign_form.h"
#include "fewshot/plda/detail/foreign_span.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/own_span.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/plda/fit.h"
#include "fewshot/toolbox/detail/class_semantics.h"
#include "fewshot/toolbox/detail/unit_space.h"

namespace protocom {
namespace {

constexpr const char* kFitted = "fitted";
constexpr const char* kNone = "none";

/// How a space follows classes that have nothing to do with those it was fitted on
/// (docs/methods/plda-own-photos.md).
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

/// The scale of log predictives in a foreign space where no class has an image to leave out.
constexpr double kForeignScale = 0.2;

/// beta of variational EM in adapted spaces: with a smaller one many classes of many images melt into one another.
constexpr double kAdaptedTrust = 0.5;

/// How far a batch may go from what the labelled images say in adapted spaces, where it lost up to two points against
/// single photos (docs/log/plda.md).
constexpr double kAdaptedPlausible = 0.3;
constexpr double kAdaptedLeastWeight = 0.5;

/// What classes are told apart with where nothing was fitted: their own labelled images. The numbers are chosen on the
/// val classes of Tiny-ImageNet-100 and CUB-100 (docs/methods/plda-own-photos.md).
PldaModel unfitted_model() {
  PldaModel model;
  model.space.leading = 1;
  model.adaptation.degrees = 1000;
  model.adaptation.center_classes = 20;
  model.adaptation.isotropic = true;
  model.vb.spread = 0;
  model.vb.trust = kAdaptedTrust;
  model.vb.plausible = kAdaptedPlausible;
  model.vb.least_weight = kAdaptedLeastWeight;
  set_scale(kDefaultScale, model);
  return model;
}

PldaPrepared prepared_without_knowledge(std::shared_ptr<const PldaModel> model) {
  PldaPrepared result;
  result.model = std::move(model);
  result.rows = std::make_shared<const PldaRows>(*result.model);
  const PldaLayout& layout = result.rows->layout();
  result.nothing = in_parts(result.model->prior({}, 1), layout);
  result.variance = in_parts(result.model->space.between, layout);
  result.never_seen =
      row_predictive(rows_of_means(result.nothing), row_metric(result.variance, at::zeros({1}), layout));
  return result;
}

/// Episode i of a batch, as a batch of one.
EpisodeBatch episode_of(const EpisodeBatch& batch, int64_t i) {
  const auto own = [&](const at::Tensor& all) { return all.defined() ? all.narrow(0, i, 1) : all; };
  EpisodeBatch episode_batch;
  episode_batch.support = own(batch.support);
  episode_batch.support_mask = own(batch.support_mask);
  episode_batch.query = own(batch.query);
  episode_batch.unlabelled = own(batch.unlabelled);
  episode_batch.shares = own(batch.shares);
  return episode_batch;
}

/// The answer in the space that an episode's labelled images make of the model's.
EpisodeScores answer_in_space(const EpisodeBatch& episode, const PldaModel& unadapted,
                              const PldaMethod::MakeScorer& make) {
  const at::Tensor support = episode.support.squeeze(0);  // [n, k, d]
  const int64_t classes = support.size(0);
  at::Tensor features = support.flatten(0, 1);
  at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(support.size(1));
  if (episode.support_mask.defined()) {
    const at::Tensor there = episode.support_mask.flatten().nonzero().flatten();
    features = features.index_select(0, there);
    labels = labels.index_select(0, there);
  }
  PldaModel model = adapted(unadapted, features, labels, classes);
  SoftSupports unlabelled;
  if (model.unlabelled.defined()) unlabelled = follow_unlabelled(model, features, labels, classes);
  return make(prepared_without_knowledge(std::make_shared<const PldaModel>(std::move(model))))
      ->score(with_soft_supports(episode, unlabelled));
}

/// Adapts the model to the labelled images of each episode. `scale`: PldaMethod::scale_in_span().
std::unique_ptr<Scorer> adapting_scorer(const std::shared_ptr<const PldaModel>& model,
                                        const PldaMethod::MakeScorer& make, std::optional<double> scale) {
  if (model->adaptation.unlabelled) scale.reset();
  std::shared_ptr<const ForeignRows> rows;  // null: none are of use
  if (scale && !model->adaptation.isotropic) rows = std::make_shared<const ForeignRows>(model->space);
  const auto answer_one = [=](const EpisodeBatch& episode) -> EpisodeScores {
    if (!episode.support.defined()) fail("the Bayesian methods need each support image's feature");
    if (!scale) return answer_in_space(episode, *model, make);
    const auto in_span = rows == nullptr ? answer_in_own_span(episode, model->adaptation, *scale)
                                         : answer_in_foreign_space(episode, *rows, *model, *scale);
    return in_span ? *in_span : answer_in_space(episode, *model, make);
  };
  return scorer_of([answer_one](const EpisodeBatch& batch) -> EpisodeScores {
    std::vector<at::Tensor> logits, unseen;
    for (int64_t i = 0; i < batch.size(); ++i) {
      const EpisodeScores scores = answer_one(episode_of(batch, i));
      logits.push_back(scores.logits);
      unseen.push_back(scores.unseen);
    }
    return {at::cat(logits), at::Tensor(), at::cat(unseen)};
  });
}

}  // namespace

std::vector<std::string> prior_choices() {
  std::vector<std::string> choices = prior_names();
  choices.insert(choices.begin(), {kFitted, kNone});
  return choices;
}

PldaMethod::PldaMethod(std::string prior, TextWeights text)
    : prior_(std::move(prior)), text_(text), model_(std::make_shared<const PldaModel>(unfitted_model())) {}

std::unique_ptr<Scorer> PldaMethod::prepare(const MethodContext& context) const {
  std::unique_ptr<Scorer> photos = model_->adaptation.adapts()
                                       ? adapting_scorer(adapting_model(), make_scorer(), scale_in_span())
                                       : make_scorer()(prepared(context));
  if (prior_ != kTextPrior) return photos;
  if (context.knowledge == nullptr || context.class_names == nullptr)
    fail_usage("'{}' needs {}: protocom knowledge embeddings makes them a knowledge file", label(),
               to_string(Need::kMatchedText));
  return with_text(std::move(photos), context, text_);
}

AdaptedMethod PldaMethod::adapted(const at::Tensor& features, const at::Tensor& labels, int64_t classes) const {
  if (!model_->adaptation.adapts()) return {};
  PldaModel made = protocom::adapted(*adapting_model(), features, labels, classes);
  AdaptedMethod answer;
  if (made.unlabelled.defined()) answer.unlabelled = follow_unlabelled(made, features, labels, classes);
  // Familiarities with and without an image or a class are compared by who calibrates (serve/calibration.h): they must
  // not depend on a scale that each finds anew, as the mean over the classes does.
  made.known_by_best = true;
  made.known_slope = {kDefaultScale, kDefaultScale, kDefaultScale};
  std::unique_ptr<Method> result = make_method(label());
  result->load(state_of(made, {}));
  answer.method = std::move(result);
  return answer;
}

const FastForm* PldaMethod::join(FastForms& forms) const {
  const auto model = adapting_model();
  const PldaAdaptation& adaptation = model->adaptation;
  if (!adaptation.adapts() || adaptation.isotropic || adaptation.unlabelled || !scale_in_span() || prior_ == kTextPrior)
    return nullptr;
  auto& form = forms.shared<ForeignForm>(std::make_shared<ForeignRows>(model->space));
  form.add({model, *scale_in_span(), prepare(forms.context())});
  return &form;
}

std::shared_ptr<const PldaModel> PldaMethod::adapting_model() const {
  auto model = std::make_shared<PldaModel>(*model_);
  model->adaptation.unlabelled = answers_batches() || model->unlabelled.defined();
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
    space.vb.spread = 0;
    space.vb.trust = kAdaptedTrust;
    space.vb.plausible = kAdaptedPlausible;
    space.vb.least_weight = kAdaptedLeastWeight;
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

PldaPrepared PldaMethod::prepared(const MethodContext& context) const {
  PldaPrepared result = prepared_without_knowledge(model_);
  const PldaLayout& layout = result.rows->layout();
  if (!model_->knowledge || !uses_fitted_knowledge()) return result;
  if (context.knowledge == nullptr || context.class_names == nullptr)
    fail_usage("'{}' was fitted with knowledge of the classes and needs it: give the same knowledge file", spec().name);
  const auto classes = static_cast<int64_t>(context.class_names->size());
  result.classes =
      in_parts(model_->prior(align_knowledge(*context.knowledge, *context.class_names, attributes_), classes), layout);
  result.variance = in_parts(model_->residual, layout);
  return result;
}

PldaRowBelief PldaPrepared::prior_of(const EpisodeBatch& batch) const {
  if (!batch.support.defined()) fail("the Bayesian methods need each support image's feature");
  const int64_t b = batch.size();
  const int64_t n = batch.support.size(1);
  const bool known = classes.mean_varied.defined() && batch.classes.defined();
  const PldaRowBelief& from = known ? classes : nothing;
  const at::Tensor which = known ? batch.classes : at::zeros({b, n}, at::kLong);
  return from.each([&](const at::Tensor& all) { return rows_at(all, which); });
}

PldaRowMetric PldaPrepared::metric_of(const at::Tensor& count) const {
  return row_metric(variance, count, rows->layout());
}

at::Tensor PldaPrepared::unseen(const EpisodeBatch& batch, const at::Tensor& predictive, const at::Tensor& count,
                                const at::Tensor& logits) const {
  const at::Tensor none = row_log_predictive(never_seen, batch.query).squeeze(-1);
  const at::Tensor ratio = model->known_by_best
                               ? std::get<0>(predictive.max(-1)) - none
                               : known_ratio(predictive, none, by_shots(model->inductive_scale, count));
  const auto fitted = [&](const ByShots& values) { return by_shots(values, count).squeeze(-1); };
  return logits.logsumexp(-1) +
         log_odds_of_none(ratio, fitted(model->known_slope), fitted(model->known_offset), fitted(model->known_alike));
}

at::Tensor PldaPrepared::points(const at::Tensor& features) const {
  const PldaLayout& layout = rows->layout();
  const PldaRowVariance between = in_parts(model->space.between, layout);
  const auto weight = [](const at::Tensor& b) { return (b / (1 + 2 * b)).sqrt(); };
  const at::Tensor row = rows->map(features);
  const int64_t begin = layout.rest_begin();
  return at::cat({row.slice(-1, 0, layout.padded) * weight(between.varied),
                  row.slice(-1, begin, begin + layout.rest()) * weight(between.rest)},
                 -1);
}

at::Tensor by_shots(const ByShots& fitted, const at::Tensor& count) {
  const at::Tensor mean = count.mean(-1);
  at::Tensor result = at::empty({count.size(0), 1, 1});
  for (int64_t i = 0; i < count.size(0); ++i)
    result.data_ptr<float>()[i] = static_cast<float>(fitted.at(mean.data_ptr<float>()[i]));
  return result;
}

std::pair<at::Tensor, at::Tensor> supports_of(const EpisodeBatch& batch) {
  return {count_of_supports(batch), batch.support.sum(2)};
}

}  // namespace protocom
