#include <cmath>

#include "base/error.h"
#include "base/to_whole.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/plda/detail/state_matrices.h"

namespace protocom {
namespace {

constexpr const char* kKernelRidge = "kernel-ridge";

constexpr const char* kSources = "embedding_sources";  // [p, 2], number of dimensions and share of each source

/// Returns "word weight 0.5 (0.25, 0.75 of the sources)".
std::string words_of(const KernelRidgeOptions& options) {
  std::string text = fmt::format("word weight {}", options.word_weight);
  if (!options.source_shares.empty()) {
    std::vector<double> shares = options.source_shares;
    for (double& share : shares) share /= options.word_weight;
    text += fmt::format(" ({:.2f} of the sources)", fmt::join(shares, ", "));
  }
  return text;
}

DoubleMatrix matrix_of_sources(const DescriptionKernel::Base& base) {
  DoubleMatrix stated(static_cast<int64_t>(base.sources.size()), 2);
  for (int64_t i = 0; i < stated.rows(); ++i) {
    const auto at = static_cast<size_t>(i);
    stated.row(i) << static_cast<double>(base.sources[at]), base.shares[at];
  }
  return stated;
}

/// Takes the sources. Throws Error if they do not match the embeddings' length.
void take_sources(const DoubleMatrix& stated, DescriptionKernel::Base& to) {
  const auto numbers = static_cast<double>(to.embeddings.cols());
  double all = 0, shares = 0;
  for (int64_t i = 0; i < stated.rows(); ++i) {
    const double size = stated(i, 0), share = stated(i, 1);
    if (!(size >= 1 && size <= numbers && share >= 0 && share <= 1))
      fail("'{}': expected sources of 1 to {} dimensions with shares from 0 to 1, found {} with {}", kSources, numbers,
           size, share);
    to.sources.push_back(to_whole<int64_t>(size));
    to.shares.push_back(share);
    all += static_cast<double>(to.sources.back());
    shares += share;
  }
  constexpr double kRounding = 1e-6;
  if (all != numbers || std::abs(shares - 1) > kRounding)
    fail("'{}': expected {} dimensions and shares with the sum 1, found {} and {}", kSources, numbers, all, shares);
}

class KernelRidgePrior : public KnowledgePrior {
 public:
  explicit KernelRidgePrior(KernelRidge ridge) : ridge_(std::move(ridge)) {}

  [[nodiscard]] std::string name() const override { return kKernelRidge; }
  [[nodiscard]] DoubleMatrix predict(const KnowledgeTable& descriptions) const override {
    return ridge_.predict(descriptions);
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const DoubleVector& factor) const override {
    return std::make_shared<KernelRidgePrior>(KernelRidge{ridge_.kernel, ridge_.dual * factor.asDiagonal()});
  }
  void add_to(MethodState& state) const override {
    const DescriptionKernel::Base& base = ridge_.kernel.base();
    add_array(state, "dual", array_of_matrix(ridge_.dual));
    if (base.attributes.rows() > 0) {
      add_array(state, "attribute_rows", array_of_matrix(base.attributes));
      add_numbers(state, "attribute_idf", base.idf);
    }
    if (base.embeddings.rows() > 0) {
      add_array(state, "embedding_rows", array_of_matrix(base.embeddings));
      add_numbers(state, "embedding_center", base.embedding_center);
    }
    if (!base.sources.empty()) add_array(state, kSources, array_of_matrix(matrix_of_sources(base)));
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
  DoubleMatrix dual = matrix_in(state, "dual", -1, dims);
  const int64_t classes = dual.rows();
  DescriptionKernel::Base base;
  if (has_tensor(state, "attribute_rows")) {
    base.attributes = matrix_in(state, "attribute_rows", classes, static_cast<int64_t>(state.attributes.size()));
    base.idf = numbers_in(state, "attribute_idf", base.attributes.cols());
  }
  if (has_tensor(state, "embedding_rows")) {
    base.embeddings = matrix_in(state, "embedding_rows", classes, -1);
    base.embedding_center = numbers_in(state, "embedding_center", base.embeddings.cols());
    if (has_tensor(state, kSources)) take_sources(matrix_in(state, kSources, -1, 2), base);
  }
  if (base.attributes.rows() == 0 && base.embeddings.rows() == 0)
    fail("expected 'attribute_rows' or 'embedding_rows' beside 'dual', found neither");
  return std::make_shared<KernelRidgePrior>(KernelRidge{DescriptionKernel(std::move(base), options), std::move(dual)});
}

}  // namespace

PriorKind kernel_ridge_prior() { return {kKernelRidge, choose_kernel_ridge, load_kernel_ridge}; }

}  // namespace protocom
