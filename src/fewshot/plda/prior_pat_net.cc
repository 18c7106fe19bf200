#include <ATen/ATen.h>

#include "fewshot/plda/attribute_means.h"
#include "fewshot/plda/prior_kind.h"
#include "fewshot/toolbox/class_semantics.h"
#include "fewshot/toolbox/state_tensors.h"
#include "fewshot/toolbox/step_training.h"
#include "fewshot/toolbox/two_layers.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kPatNet = "pat-net";
constexpr int64_t kPatNetHidden = 256;
constexpr int64_t kPatNetSteps = 200;
constexpr double kPatNetRate = 1e-3;

/// Sum over dimensions of KL(N(m, exp(log_v)) || N(mean, variance)), [n].
at::Tensor gaussian_divergence(const at::Tensor& predicted, const at::Tensor& mean, const at::Tensor& variance) {
  const auto halves = predicted.chunk(2, 1);
  const at::Tensor ratio = halves[1].exp() / variance;
  return 0.5 * (ratio - 1 - ratio.log() + (halves[0] - mean).square() / variance).sum(1);
}

/// What a class's attributes weigh in its mean.
struct AttributeShares {
  at::Tensor idf;      ///< float64 [a]
  at::Tensor typical;  ///< float64 [a], the mean of base classes' shares

  /// R idf over its sum, less the typical share, [n, a]: what tells a class from the others is how its attributes
  /// differ from theirs.
  [[nodiscard]] at::Tensor of(const at::Tensor& association) const { return plain(association) - typical; }
  [[nodiscard]] at::Tensor plain(const at::Tensor& association) const {
    const at::Tensor weight = association.to(at::kDouble) * idf;
    return weight / weight.sum(1, true).clamp_min(1e-12);
  }
};

AttributeShares shares_of(const AttributeMeans& observed, const PriorExamples& examples) {
  const auto classes = static_cast<double>(examples.means.size(0));
  AttributeShares shares{((1 + classes) / (1 + observed.count)).log(), {}};
  shares.typical = shares.plain(examples.descriptions.association).mean(0);
  return shares;
}

class PatNetPrior : public KnowledgePrior {
 public:
  PatNetPrior(at::Tensor mean, AttributeShares shares, int64_t dims)
      : mean_(std::move(mean)), shares_(std::move(shares)), dims_(dims) {}

  [[nodiscard]] std::string name() const override { return kPatNet; }
  [[nodiscard]] at::Tensor predict(const ClassDescriptions& descriptions) const override {
    if (!descriptions.association.defined() || descriptions.association.size(1) != mean_.size(0)) {
      fail("descriptions have {} attributes, the prior '{}' was fitted on {}; use the same knowledge",
           descriptions.association.defined() ? descriptions.association.size(1) : 0, kPatNet, mean_.size(0));
    }
    return up_to(at::matmul(shares_.of(descriptions.association), mean_), dims_);
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const at::Tensor& factor) const override {
    return std::make_shared<PatNetPrior>(mean_ * factor.narrow(0, 0, mean_.size(1)), shares_, dims_);
  }
  void add_to(MethodState& state) const override {
    add_tensor(state, "pat_net.attribute_mean", mean_);
    add_tensor(state, "pat_net.attribute_idf", shares_.idf);
    add_tensor(state, "pat_net.typical_shares", shares_.typical);
  }

 private:
  at::Tensor mean_;  ///< of every attribute, float64 [a, leading], observed or predicted, times what fits class means
  AttributeShares shares_;
  int64_t dims_;
};

/// PATNet: from an attribute's word vector to the Gaussian of the images that have it, learned on the attributes of
/// base classes by KL(predicted || observed). Means of all attributes, float64 [a, l].
at::Tensor predicted_means(const AttributeMeans& observed, const at::Tensor& words, uint64_t seed) {
  at::manual_seed(seed);
  const at::Tensor input = rows_of_size_one(words.to(at::kFloat));
  const at::Tensor seen = observed.count.gt(0).nonzero().squeeze(1);
  const auto of_seen = [&](const at::Tensor& all) { return all.index_select(0, seen).to(at::kFloat); };
  const at::Tensor known = of_seen(input);
  const at::Tensor mean = of_seen(observed.mean);
  const at::Tensor variance = of_seen(observed.variance);
  const TwoLayers net = TwoLayers::untrained({input.size(1), kPatNetHidden, 2 * mean.size(1)});
  const auto loss = [&] { return gaussian_divergence(net(known), mean, variance).mean(); };
  train_steps(net.parameters(), {kPatNet, kPatNetSteps, kPatNetRate}, loss, nullptr, Progress::none());
  return net(input).narrow(1, 0, mean.size(1)).to(at::kDouble);
}

/// How much longer class means are than the mean of their attributes as the other classes show them: the least squares
/// factor, not below 0.
double length_of(const AttributeMeans& observed, const PriorExamples& examples, const AttributeShares& shares) {
  const at::Tensor means = examples.means.narrow(1, 0, examples.leading);
  const at::Tensor weights = shares.of(examples.descriptions.association);
  double along = 0;
  double squares = 0;
  for (int64_t c = 0; c < means.size(0); ++c) {
    const at::Tensor guess = at::matmul(weights[c], observed.without(means[c], c));
    along += guess.dot(means[c]).item<double>();
    squares += guess.dot(guess).item<double>();
  }
  return squares > 0 ? std::max(0.0, along / squares) : 0;
}

std::shared_ptr<const KnowledgePrior> train_pat_net(const PriorExamples& examples, uint64_t seed) {
  const AttributeMeans observed(examples);
  const at::Tensor seen = observed.count.gt(0).unsqueeze(1);
  at::Tensor mean = observed.mean;
  if (!seen.all().item<bool>())
    mean = at::where(seen, mean, predicted_means(observed, examples.descriptions.attribute_embedding, seed));
  AttributeShares shares = shares_of(observed, examples);
  mean = mean * length_of(observed, examples, shares);
  return std::make_shared<PatNetPrior>(std::move(mean), std::move(shares), examples.means.size(1));
}

PriorChoice choose_pat_net(const PriorExamples& examples, const PriorOptions& options) {
  return only_choice([seed = options.seed](const PriorExamples& base) { return train_pat_net(base, seed); }, examples,
                     options);
}

std::shared_ptr<const KnowledgePrior> load_pat_net(const MethodState& state, const KernelRidgeOptions& /*ridge*/,
                                                   int64_t dims) {
  if (!has_tensor(state, "pat_net.attribute_mean")) return nullptr;
  const auto attributes = static_cast<int64_t>(state.attributes.size());
  const at::Tensor mean = finite_tensor(state, "pat_net.attribute_mean", {attributes, -1});
  if (mean.size(1) > dims) fail("'pat_net.attribute_mean' has {} columns, expected at most {}", mean.size(1), dims);
  AttributeShares shares{finite_tensor(state, "pat_net.attribute_idf", {attributes}),
                         finite_tensor(state, "pat_net.typical_shares", {attributes})};
  return std::make_shared<PatNetPrior>(mean, std::move(shares), dims);
}

}  // namespace

PriorKind pat_net_prior() { return {kPatNet, lacks_attribute_words, choose_pat_net, load_pat_net}; }

}  // namespace protocom
