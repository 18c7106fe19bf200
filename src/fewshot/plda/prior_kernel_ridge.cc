#include <ATen/ATen.h>

#include "fewshot/plda/prior_kind.h"
#include "fewshot/toolbox/state_tensors.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kKernelRidge = "kernel-ridge";

class KernelRidgePrior : public KnowledgePrior {
 public:
  explicit KernelRidgePrior(KernelRidge ridge) : ridge_(std::move(ridge)) {}

  [[nodiscard]] std::string name() const override { return kKernelRidge; }
  [[nodiscard]] at::Tensor predict(const ClassDescriptions& descriptions) const override {
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
  }

 private:
  KernelRidge ridge_;
};

PriorChoice choose_kernel_ridge(const PriorExamples& examples, const PriorOptions& /*options*/) {
  PriorChoice choice;
  const auto trials = try_kernel_ridges(examples.descriptions, examples.means);
  for (const KernelRidgeTrial& trial : trials) {
    choice.trials.push_back(
        {fmt::format("word weight {}, ridge {}", trial.options.word_weight, trial.options.ridge), trial.error});
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
  }
  if (!base.attributes.defined() && !base.embeddings.defined())
    fail("expected 'attribute_rows' or 'embedding_rows' beside 'dual', found neither");
  return std::make_shared<KernelRidgePrior>(KernelRidge{DescriptionKernel(std::move(base), options), dual});
}

}  // namespace

PriorKind kernel_ridge_prior() { return {kKernelRidge, choose_kernel_ridge, load_kernel_ridge}; }

}  // namespace protocom
