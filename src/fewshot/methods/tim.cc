#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/information_descent.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string variant = "adm";
  double temperature = 15;
  double cross_entropy = 0.1;
  double marginal = 1;
  double conditional = 0.1;
  int64_t steps = 0;
  double learning_rate = 1e-4;
  std::string transform = "l2n";
};

constexpr int64_t kStepsOfAdm = 150;
constexpr int64_t kStepsOfGd = 1000;

/// TIM-ADM (section 2.3 of the paper) in coefficients of the episode's points.
class Alternating {
 public:
  Alternating(const EpisodePoints& points, const Options& options)
      : points_(points),
        options_(options),
        span_(points.features),
        support_pull_(points.labels * (options.cross_entropy / (1 + options.conditional))),
        per_query_(points.shots().sum(1).view({-1, 1, 1}) / static_cast<double>(points.unlabelled)),
        push_of_each_(support_pull_.sum(-1, true)),
        weights_(weighted_means(points.labels)) {
    points.unlabelled_of(push_of_each_).copy_(per_query_.expand({-1, points.unlabelled, -1}));
  }

  at::Tensor logits() const {
    const at::Tensor inner = span_.products(weights_);
    return (inner - Span::squared_lengths(weights_, inner) / 2).mul_(options_.temperature);
  }

  void step() {
    const at::Tensor log_p = class_log_softmax(logits());  // [b, m, n]
    // What pulls each class: labels and latent assignments, less the probabilities, each with its part's weight.
    at::Tensor pull = support_pull_.clone();
    points_.unlabelled_of(pull).copy_(latent(points_.unlabelled_of(log_p)).mul_(per_query_));
    const at::Tensor push = log_p.exp().mul_(push_of_each_);
    const at::Tensor kept = weights_ * push.sum(1).unsqueeze(-1);
    const at::Tensor total = pull.sum(1).unsqueeze(-1);
    weights_ = pull.sub_(push).transpose(1, 2).add(kept).div_(total);
  }

 private:
  /// q ~ p^(1 + conditional) / (sum over queries of that)^(marginal / (1 + marginal)), rows summing to 1.
  [[nodiscard]] at::Tensor latent(const at::Tensor& log_p) const {
    const at::Tensor sharp = (log_p * (1 + options_.conditional)).exp_();
    sharp.div_(sharp.sum(1, true).clamp_min(1e-30).pow(options_.marginal / (1 + options_.marginal)));
    return sharp.div_(sharp.sum(-1, true));
  }

  const EpisodePoints& points_;
  const Options& options_;
  Span span_;
  at::Tensor support_pull_;  // [b, m, n]
  at::Tensor per_query_;     // [b, 1, 1]
  at::Tensor push_of_each_;  // [b, m, 1]
  at::Tensor weights_;       // [b, n, m]
};

int64_t steps_of(const Options& options) {
  if (options.steps > 0) return options.steps;
  return options.variant == "adm" ? kStepsOfAdm : kStepsOfGd;
}

InformationLoss loss_of(const Options& options) {
  return {options.temperature, options.cross_entropy, options.marginal, options.conditional};
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const bool alternates = options.variant == "adm";
  const int64_t steps = steps_of(options);
  const EpisodePoints points = episode_points(batch);
  if (alternates) {
    Alternating adm(points, options);
    for (int64_t step = 0; step < steps && points.unlabelled > 0; ++step) adm.step();
    return {points.queries_of(adm.logits()), at::Tensor()};
  }
  const at::Tensor weights = information_descent(points, loss_of(options), {options.learning_rate, steps});
  return {euclidean_logits(points.queries_of(points.features), weights, options.temperature), at::Tensor()};
}

std::unique_ptr<RowRun> run(const Options& options) {
  if (options.variant == "adm") return nullptr;
  const DescentOptions descent{options.learning_rate, steps_of(options)};
  return std::make_unique<InformationRun>(loss_of(options), descent);
}

}  // namespace

MethodDefinition tim() {
  MethodSpec spec;
  spec.name = "tim";
  spec.about = "class weights with the most information between queries and their predicted classes";
  spec.citation =
      "Boudiaf, Ziko, Rony, Dolz, Piantanida, Ben Ayed: Transductive Information Maximization for Few-Shot Learning, "
      "NeurIPS 2020";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "variant=adm is the authors’ closed-form TIM-ADM, variant=gd their TIM-GD by Adam. Weights of the loss are the "
      "authors’ (.1, 1, .1); Veilleux et al. (NeurIPS 2021) use 1, 10, 1 for balanced and 1, 1, 1 for unbalanced "
      "queries with variant=gd. Rewards answers that use all classes equally.";
  return define_in_space(
      std::move(spec), &answer,
      Parameters<Options>()
          .choice("variant", &Options::variant, {"adm", "gd"}, "alternating closed-form steps, or gradient descent")
          .real("temperature", &Options::temperature, {1e-6}, "factor of the logits")
          .tries({"10", "30", "60"})
          .real("cross_entropy", &Options::cross_entropy, {1e-6}, "weight of the supports’ cross-entropy")
          .tries({"1"})
          .real("marginal", &Options::marginal, {}, "weight of the entropy of the queries’ mean answer")
          .tries({"0.3", "3", "10"})
          .real("conditional", &Options::conditional, {}, "weight of the mean entropy of the queries’ answers")
          .tries({"0.5", "1"})
          .whole("steps", &Options::steps, {0, 1e6}, "0: the published number, 150 for adm and 1000 for gd")
          .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam, variant=gd"),
      {"cl2n"}, &run);
}

}  // namespace protocom::methods
