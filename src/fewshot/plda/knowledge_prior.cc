#include "fewshot/plda/knowledge_prior.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/rng.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/toolbox/detail/state_tensors.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

std::vector<PriorKind> all_priors() { return {kernel_ridge_prior(), sem_align_prior()}; }

/// Priors that earlier versions fitted, by a tensor that each of them kept.
constexpr std::pair<const char*, const char*> kRemovedPriors[] = {{"combination.weights", "combination"},
                                                                  {"proto_com_net.factor", "proto-com-net"},
                                                                  {"pat_net.attribute_mean", "pat-net"}};

/// What is predicted of each class by a prior of the classes of the other groups, [c, e].
at::Tensor left_out_in_groups(const FitPrior& fit, const PriorExamples& examples, const PriorOptions& options) {
  const int64_t classes = examples.means.size(0);
  const int64_t groups = std::min(options.groups, classes);
  const at::Tensor order = at::tensor(Rng(options.seed).sample(classes, classes), at::kLong);
  at::Tensor predicted = at::zeros_like(examples.means);
  for (int64_t group = 0; group < groups; ++group) {
    const at::Tensor here = at::arange(classes, at::kLong).remainder(groups).eq(group);
    const at::Tensor out = order.masked_select(here);
    const auto prior = fit(examples.rows(order.masked_select(here.logical_not())));
    predicted.index_copy_(0, out, prior->predict(examples.descriptions.rows(numbers_of(out))));
  }
  return predicted;
}

bool says_anything(const at::Tensor& rows) { return rows.defined() && rows.ne(0).any().item<bool>(); }

}  // namespace

PriorExamples PriorExamples::rows(const at::Tensor& classes) const {
  return {descriptions.rows(numbers_of(classes)), means.index_select(0, classes), leading};
}

PriorChoice only_choice(FitPrior fit, const PriorExamples& examples, const PriorOptions& options) {
  const at::Tensor left_out = left_out_in_groups(fit, examples, options);
  const auto groups = std::min(options.groups, examples.means.size(0));
  const double missed = (examples.means - left_out).square().sum().item<double>();
  return {std::move(fit),
          {{fmt::format("base classes left out in {} groups", groups),
            missed / examples.means.square().sum().item<double>()}},
          left_out};
}

std::vector<std::string> prior_names() {
  std::vector<std::string> names;
  for (const PriorKind& kind : all_priors()) names.push_back(kind.name);
  return names;
}

PriorChoice choose_prior(const std::string& name, const PriorExamples& examples, const PriorOptions& options) {
  for (const PriorKind& kind : all_priors()) {
    if (kind.name != name) continue;
    if (!says_anything(tensor_of(examples.descriptions.association)) &&
        !says_anything(tensor_of(examples.descriptions.class_embedding)))
      fail_usage("the prior '{}' needs attributes or word vectors of classes, and the knowledge has none", name);
    return kind.choose(examples, options);
  }
  fail_usage("unknown prior '{}'; use one of {}", name, fmt::join(prior_names(), ", "));
}

std::shared_ptr<const KnowledgePrior> load_prior(const MethodState& state, const KernelRidgeOptions& ridge,
                                                 int64_t dims) {
  for (const auto& [tensor, name] : kRemovedPriors) {
    if (has_tensor(state, tensor))
      fail("the prior '{}' is no longer there: fit the method anew, with one of {}", name,
           fmt::join(prior_names(), ", "));
  }
  for (const PriorKind& kind : all_priors()) {
    if (auto prior = kind.load(state, ridge, dims)) return prior;
  }
  return nullptr;
}

}  // namespace protocom
