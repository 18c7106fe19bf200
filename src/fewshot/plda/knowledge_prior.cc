#include "fewshot/plda/knowledge_prior.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/plda/detail/state_matrices.h"

namespace protocom {
namespace {

std::vector<PriorKind> all_priors() { return {kernel_ridge_prior(), sem_align_prior()}; }

/// Returns the predictions for each class by a prior fitted on the classes of the other groups, [c, e].
DoubleMatrix left_out_in_groups(const FitPrior& fit, const PriorExamples& examples, const PriorOptions& options) {
  const int64_t classes = examples.means.rows();
  const int64_t groups = std::min(options.groups, classes);
  const std::vector<int64_t> order = Rng(options.seed).sample(classes, classes);
  DoubleMatrix predicted = DoubleMatrix::Zero(classes, examples.means.cols());
  for (int64_t group = 0; group < groups; ++group) {
    std::vector<int64_t> out, kept;
    for (int64_t i = 0; i < classes; ++i) (i % groups == group ? out : kept).push_back(order[static_cast<size_t>(i)]);
    predicted(out, Eigen::all) = fit(examples.rows(kept))->predict(examples.descriptions.rows(out));
  }
  return predicted;
}

bool has_content(const Array& rows) {
  return rows.defined() && (matrix_of<float>(rows.to(NumberType::kFloat32)).array() != 0).any();
}

}  // namespace

PriorExamples PriorExamples::rows(const std::vector<int64_t>& classes) const {
  return {descriptions.rows(classes), means(classes, Eigen::all), leading};
}

PriorChoice only_choice(FitPrior fit, const PriorExamples& examples, const PriorOptions& options) {
  DoubleMatrix left_out = left_out_in_groups(fit, examples, options);
  const auto groups = std::min<int64_t>(options.groups, examples.means.rows());
  const double missed = (examples.means - left_out).squaredNorm();
  return {std::move(fit),
          {{fmt::format("base classes left out in {} groups", groups), missed / examples.means.squaredNorm()}},
          std::move(left_out)};
}

std::vector<std::string> prior_names() {
  std::vector<std::string> names;
  for (const PriorKind& kind : all_priors()) names.push_back(kind.name);
  return names;
}

PriorChoice choose_prior(const std::string& name, const PriorExamples& examples, const PriorOptions& options) {
  for (const PriorKind& kind : all_priors()) {
    if (kind.name != name) continue;
    if (!has_content(examples.descriptions.association) && !has_content(examples.descriptions.class_embedding))
      fail_usage("the prior '{}' needs attributes or word vectors of classes, and the knowledge has none", name);
    return kind.choose(examples, options);
  }
  fail_usage("unknown prior '{}': expected one of {}", name, fmt::join(prior_names(), ", "));
}

std::shared_ptr<const KnowledgePrior> load_prior(const MethodState& state, const KernelRidgeOptions& ridge,
                                                 int64_t dims) {
  for (const PriorKind& kind : all_priors()) {
    if (auto prior = kind.load(state, ridge, dims)) return prior;
  }
  return nullptr;
}

}  // namespace protocom
