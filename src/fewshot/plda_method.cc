#include "fewshot/plda_method.h"

#include <ATen/ATen.h>

#include "fewshot/plda_state.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/alignment.h"
#include "protocom/fewshot/plda_fit.h"

namespace protocom {
namespace {

ClassDescriptions descriptions_of(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                                  const std::vector<std::string>& attributes) {
  const ClassKnowledge aligned = align_knowledge(knowledge, class_names, attributes);
  return {aligned.association, aligned.embedding};
}

}  // namespace

void PldaMethod::fit(const FitInputs& inputs) {
  PldaFitInputs given{inputs.base.features, inputs.base.labels, inputs.val.features, inputs.val.labels, {}};
  attributes_.clear();
  if (inputs.knowledge != nullptr) {
    attributes_ = inputs.knowledge->attributes;
    given.descriptions = descriptions_of(*inputs.knowledge, *inputs.class_names, attributes_);
  }
  PldaFitOptions options;
  options.seed = inputs.seed;
  PldaFit found = fit_plda(given, options);
  findings_ = {knowledge_sentence(found.model)};
  for (const PldaTrial& trial : found.tried) {
    if (trial.chosen) findings_.push_back(fmt::format("{}: {} ({:.2f})", trial.what, trial.setting, trial.figure));
  }
  model_ = std::make_shared<const PldaModel>(std::move(found.model));
}

MethodState PldaMethod::state() const { return model_ == nullptr ? MethodState() : state_of(*model_, attributes_); }

void PldaMethod::load(const MethodState& state) {
  model_ = std::make_shared<const PldaModel>(plda_model_of(state));
  attributes_ = state.attributes;
}

std::vector<std::string> PldaMethod::findings() const { return findings_; }

PldaMethod::Prepared PldaMethod::prepared(const MethodContext& context) const {
  if (model_ == nullptr) fail_usage("'{}' has to be fitted first: `protocom fit --method plda`", spec().name);
  if (!model_->knowledge) return {model_, {}};
  if (context.knowledge == nullptr || context.class_names == nullptr)
    fail_usage("'{}' was fitted with knowledge of the classes and needs it: give the same knowledge file", spec().name);
  return {model_, descriptions_of(*context.knowledge, *context.class_names, attributes_)};
}

ClassMeanPrior prior_of(const PldaModel& model, const ClassDescriptions& descriptions, const EpisodeBatch& batch) {
  const at::IntArrayRef shape = batch.support.defined() ? batch.support.sizes() : batch.moments.sum.sizes();
  const int64_t b = shape[0];
  const int64_t n = shape[1];
  const at::Tensor labels = batch.classes.defined() ? batch.classes.flatten() : at::Tensor();
  const bool known = !descriptions.empty() && labels.defined();
  const ClassMeanPrior prior = model.prior(known ? descriptions.rows(labels) : ClassDescriptions(), b * n);
  const auto split = [&](const at::Tensor& rows) { return rows.dim() == 1 ? rows : rows.view({b, n, -1}); };
  return {split(prior.mean), split(prior.variance)};
}

SupportStatistics supports_in(const PldaSpace& space, const EpisodeBatch& batch) {
  EpisodeBatch moved = batch;
  moved.support = space.transform(batch.support);
  return statistics_of(moved);
}

}  // namespace protocom
