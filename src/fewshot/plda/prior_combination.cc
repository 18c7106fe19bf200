#include <ATen/ATen.h>

#include "fewshot/plda/prior_kind.h"
#include "fewshot/toolbox/state_tensors.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kCombination = "combination";
constexpr const char* kCombinationWeights = "combination.weights";
constexpr int kStackingSweeps = 200;

/// argmin over w >= 0 of w'Gw / 2 - w'b by coordinate descent, [k].
at::Tensor nonnegative_least_squares(const at::Tensor& gram, const at::Tensor& along) {
  at::Tensor weights = at::zeros_like(along);
  for (int sweep = 0; sweep < kStackingSweeps; ++sweep) {
    for (int64_t i = 0; i < along.size(0); ++i) {
      const double own = gram[i][i].item<double>();
      const double slope = (along[i] - gram[i].dot(weights)).item<double>();
      weights[i] = own > 0 ? std::max(0.0, weights[i].item<double>() + slope / own) : 0;
    }
  }
  return weights;
}

/// Products of what k priors say of each class, [c, k, k], and of that with the class means, [c, k].
struct StackedProducts {
  at::Tensor gram;
  at::Tensor along;

  StackedProducts(const at::Tensor& said, const at::Tensor& means)  // [c, k, e], [c, e]
      : gram(at::matmul(said, said.transpose(1, 2))), along(at::matmul(said, means.unsqueeze(2)).squeeze(2)) {}

  /// Stacked regression (Breiman 1996): the weights, not negative, with the least squared error of what is said of each
  /// class by priors that were fitted without it.
  [[nodiscard]] at::Tensor weights() const { return nonnegative_least_squares(gram.sum(0), along.sum(0)); }
  /// The weights that the other classes give.
  [[nodiscard]] at::Tensor weights_without(int64_t place) const {
    return nonnegative_least_squares(gram.sum(0) - gram[place], along.sum(0) - along[place]);
  }
};

class CombinationPrior : public KnowledgePrior {
 public:
  using Parts = std::vector<std::shared_ptr<const KnowledgePrior>>;
  CombinationPrior(Parts parts, at::Tensor weights) : parts_(std::move(parts)), weights_(std::move(weights)) {}

  [[nodiscard]] std::string name() const override { return kCombination; }
  [[nodiscard]] at::Tensor predict(const ClassDescriptions& descriptions) const override {
    std::vector<at::Tensor> said;
    for (const auto& part : parts_) said.push_back(part->predict(descriptions));
    return at::tensordot(weights_, at::stack(said), {0}, {0});
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const at::Tensor& factor) const override {
    Parts parts;
    for (const auto& part : parts_) parts.push_back(part->scaled(factor));
    return std::make_shared<CombinationPrior>(std::move(parts), weights_);
  }
  void add_to(MethodState& state) const override {
    add_tensor(state, kCombinationWeights, weights_);
    for (const auto& part : parts_) part->add_to(state);
  }

 private:
  Parts parts_;
  at::Tensor weights_;  ///< float64 [parts]
};

/// What is said of each class with weights in which it has no part, [c, e].
at::Tensor stacked(const at::Tensor& said, const StackedProducts& products) {
  std::vector<at::Tensor> rows;
  for (int64_t c = 0; c < said.size(0); ++c) rows.push_back(at::matmul(products.weights_without(c), said[c]));
  return at::stack(rows);
}

/// The kinds that the descriptions allow, chosen.
struct CombinedChoices {
  std::vector<std::string> names;
  std::vector<PriorChoice> choices;

  CombinedChoices(const PriorExamples& examples, const PriorOptions& options) {
    for (const PriorKind& kind : single_priors()) {
      if (!kind.lacks(examples.descriptions).empty()) continue;
      names.push_back(kind.name);
      choices.push_back(kind.choose(examples, options));
    }
  }

  [[nodiscard]] at::Tensor left_out() const {  // [c, k, e]
    std::vector<at::Tensor> said;
    for (const PriorChoice& one : choices) said.push_back(one.left_out);
    return at::stack(said, 1);
  }
  [[nodiscard]] std::string text(const at::Tensor& weights) const {
    std::string sum;
    for (size_t i = 0; i < names.size(); ++i) {
      sum += fmt::format("{}{:.2f} {}", i > 0 ? " + " : "", weights[static_cast<int64_t>(i)].item<double>(), names[i]);
    }
    return sum;
  }
};

/// Fits those of a weight above 0; where no prior is worth any, the first of them, times 0.
FitPrior weighted_fit(const CombinedChoices& all, const at::Tensor& weights) {
  std::vector<FitPrior> parts;
  std::vector<int64_t> places;
  for (size_t i = 0; i < all.choices.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (weights[place].item<double>() == 0) continue;
    parts.push_back(all.choices[i].fit);
    places.push_back(place);
  }
  if (places.empty()) {
    parts.push_back(all.choices.front().fit);
    places.push_back(0);
  }
  const at::Tensor kept = weights.index_select(0, at::tensor(places, at::kLong));
  return [parts, kept](const PriorExamples& base) {
    CombinationPrior::Parts fitted;
    for (const FitPrior& fit : parts) fitted.push_back(fit(base));
    return std::make_shared<CombinationPrior>(std::move(fitted), kept);
  };
}

PriorChoice choose_combination(const PriorExamples& examples, const PriorOptions& options) {
  const CombinedChoices all(examples, options);
  const at::Tensor said = all.left_out();
  const StackedProducts products(said, examples.means);
  const at::Tensor weights = products.weights();
  PriorChoice choice;
  choice.fit = weighted_fit(all, weights);
  choice.left_out = stacked(said, products);
  choice.trials = {{all.text(weights), share_missed(choice.left_out, examples.means)}};
  choice.ridge = all.choices.front().ridge;
  return choice;
}

std::shared_ptr<const KnowledgePrior> load_combination(const MethodState& state, const KernelRidgeOptions& ridge,
                                                       int64_t dims) {
  if (!has_tensor(state, kCombinationWeights)) return nullptr;
  CombinationPrior::Parts parts;
  for (const PriorKind& kind : single_priors()) {
    if (auto part = kind.load(state, ridge, dims)) parts.push_back(std::move(part));
  }
  const auto count = static_cast<int64_t>(parts.size());
  return std::make_shared<CombinationPrior>(std::move(parts), finite_tensor(state, kCombinationWeights, {count}));
}

}  // namespace

PriorKind combination_prior() { return {kCombination, lacks_descriptions, choose_combination, load_combination}; }

}  // namespace protocom
