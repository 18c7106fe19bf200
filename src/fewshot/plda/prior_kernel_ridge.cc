#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "base/to_whole.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/toolbox/detail/state_tensors.h"

namespace protocom {
namespace {

constexpr const char* kKernelRidge = "kernel-ridge";

constexpr const char* kSources = "embedding_sources";  // [p, 2], how many numbers and which share each has

/// "word weight 0.5 (0.25, 0.75 of the sources)"
std::string words_of(const KernelRidgeOptions& options) {
  std::string text = fmt::format("word weight {}", options.word_weight);
  if (!options.source_shares.empty()) {
    std::vector<double> shares = options.source_shares;
    for (double& share : shares) share /= options.word_weight;
    text += fmt::format(" ({:.2f} of the sources)", fmt::join(shares, ", "));
  }
  return text;
}

at::Tensor tensor_of_sources(const DescriptionKernel::Base& base) {
  std::vector<double> values;
  for (size_t i = 0; i < base.sources.size(); ++i)
    values.insert(values.end(), {static_cast<double>(base.sources[i]), base.shares[i]});
  return at::tensor(values, at::kDouble).view({-1, 2});
}

/// Throws Error where they are not of the embeddings' numbers.
void take_sources(const at::Tensor& stated, DescriptionKernel::Base& to) {
  const auto value = stated.accessor<double, 2>();
  const double numbers = static_cast<double>(to.embeddings.size(1));
  double all = 0, shares = 0;
  for (int64_t i = 0; i < stated.size(0); ++i) {
    const double size = value[i][0];
    if (!(size >= 1 && size <= numbers && value[i][1] >= 0 && value[i][1] <= 1))
      fail("'{}' holds {} numbers with the share {}", kSources, size, value[i][1]);
    to.sources.push_back(to_whole<int64_t>(size));
    to.shares.push_back(value[i][1]);
    all += static_cast<double>(to.sources.back());
    shares += value[i][1];
  }
  constexpr double kRounding = 1e-6;
  if (all != numbers || std::abs(shares - 1) > kRounding)
    fail("'{}' holds {} numbers with shares of {} together, expected {} with 1", kSources, all, shares, numbers);
}

class KernelRidgePrior : public KnowledgePrior {
 public:
  explicit KernelRidgePrior(KernelRidge ridge) : ridge_(std::move(ridge)) {}

  [[nodiscard]] std::string name() const override { return kKernelRidge; }
  [[nodiscard]] at::Tensor predict(const KnowledgeTable& descriptions) const override {
    return ridge_.predict(descriptions);
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const at::Tensor& factor) const override {
    return std::make_shared<KernelRidgePrior>(KernelRidge{ridge_.kernel, ridge_.dual * factor});
  }
  void add_to(MethodState& state) const override {
    const DescriptionKernel::Base& base = ridge_.kernel.base();
    add_tensor(state, "dual", ridge_.dual);
    add_tensor(state, "attribute_rows", base.attributes);
    add_tensor(state, "attribute_idf", base.idf);
    add_tensor(state, "embedding_rows", base.embeddings);
    add_tensor(state, "embedding_center", base.embedding_center);
    if (!base.sources.empty()) add_tensor(state, kSources, tensor_of_sources(base));
  }

 private:
  KernelRidge ridge_;
};

PriorChoice choose_kernel_ridge(const PriorExamples& examples, const PriorOptions& /*options*/) {
  PriorChoice choice;
  const auto trials = try_kernel_ridges(examples.descriptions, examples.means);
  for (const KernelRidgeTrial& trial : trials) {
    choice.trials.push_back({fmt::format("{}, ridge {}", words_of(trial.options), trial.options.ridge), trial.error});
  }
  choice.ridge = trials.front().options;
  choice.left_out = leave_one_out(examples.descriptions, examples.means, choice.ridge);
  choice.fit = [options = choice.ridge](const PriorExamples& base) {
    return std::make_shared<KernelRidgePrior>(fit_kernel_ridge(base.descriptions, base.means, options));
  };
  return choice;
}

std::shared_ptr<const KnowledgePrior> load_kernel_ridge(const MethodState& state, const KernelRidgeOptions& options,
                                                        int64_t dims) {
  if (!has_tensor(state, "dual")) return nullptr;
  const at::Tensor dual = finite_tensor(state, "dual", {-1, dims});
  const int64_t classes = dual.size(0);
  DescriptionKernel::Base base;
  if (has_tensor(state, "attribute_rows")) {
    base.attributes = finite_tensor(state, "attribute_rows", {classes, static_cast<int64_t>(state.attributes.size())});
    base.idf = finite_tensor(state, "attribute_idf", {base.attributes.size(1)});
  }
  if (has_tensor(state, "embedding_rows")) {
    base.embeddings = finite_tensor(state, "embedding_rows", {classes, -1});
    base.embedding_center = finite_tensor(state, "embedding_center", {base.embeddings.size(1)});
    if (has_tensor(state, kSources)) take_sources(finite_tensor(state, kSources, {-1, 2}), base);
  }
  if (!base.attributes.defined() && !base.embeddings.defined())
    fail("expected 'attribute_rows' or 'embedding_rows' beside 'dual', found neither");
  return std::make_shared<KernelRidgePrior>(KernelRidge{DescriptionKernel(std::move(base), options), dual});
}

}  // namespace

PriorKind kernel_ridge_prior() { return {kKernelRidge, choose_kernel_ridge, load_kernel_ridge}; }

}  // namespace protocom
