#include <ATen/ATen.h>

#include "base/unit_vectors.h"
#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

constexpr int64_t kSteps = 10;
constexpr int64_t kInnerSteps = 5;
constexpr int64_t kNeighbours = 3;
constexpr int64_t kConfident = 8;
constexpr double kWeight = 50;  ///< of the likeness of neighbours and of shots against the mixture's log likelihood
constexpr double kLeast = 1e-12;

struct Options {
  double gamma = 0.02;
  double lambda_few = 0.5;
  double lambda_zero = 1;
  double scale = kClipScale;
};

/// One episode: images x [u, d] that are answered together, labelled ones s [m, d] with y [m, n], all of unit length,
/// and what the texts say of x, probabilities t [u, n]. float64.
struct Problem {
  at::Tensor x, s, y, t;
  [[nodiscard]] bool has_shots() const { return s.size(0) > 0; }
};

/// Gaussians with one diagonal covariance.
struct Mixture {
  at::Tensor means;     // [n, d]
  at::Tensor variance;  // [d]

  /// log N(x; mean, variance) of [u, d] less what is the same for all classes: [u, n].
  [[nodiscard]] at::Tensor log_likelihood(const at::Tensor& x) const {
    const at::Tensor precision = variance.reciprocal();
    return at::mm(x, (means * precision).t()) - 0.5 * (means * means * precision).sum(1);
  }
};

/// Affinity [a, u] of images to their nearest neighbours among x, cosines, zero elsewhere. `own`: rows are x itself,
/// whose nearest is left out.
at::Tensor affinity(const at::Tensor& rows, const at::Tensor& x, bool own) {
  at::Tensor cosines = at::mm(rows, x.t());
  if (own) cosines.fill_diagonal_(-2);
  const int64_t k = std::min<int64_t>(kNeighbours, x.size(0) - (own ? 1 : 0));
  if (k < 1) return at::zeros_like(cosines);
  const auto [value, index] = cosines.topk(k, 1);
  return at::zeros_like(cosines).scatter_(1, index, value);
}

Mixture first(const Problem& problem) {
  at::Tensor means;
  if (problem.has_shots()) {
    means = at::mm(problem.y.t(), problem.s);
  } else {  // the images of which the texts are surest
    const auto [value, index] = problem.t.topk(std::min(kConfident, problem.t.size(0)), 0);
    means = at::mm(at::zeros_like(problem.t).scatter_(0, index, value).t(), problem.x);
  }
  const int64_t d = problem.x.size(1);
  return {unit_vectors(means), at::full({d}, 1.0 / static_cast<double>(d), means.options())};
}

Mixture refitted(const Problem& problem, const at::Tensor& z, double gamma) {
  const auto images = static_cast<double>(problem.x.size(0));
  at::Tensor weights = z / images;
  at::Tensor points = problem.x;
  if (problem.has_shots()) {
    const double each = gamma * kWeight / static_cast<double>(problem.s.size(0));
    weights = at::cat({weights, each * problem.y});
    points = at::cat({points, problem.s});
  }
  const at::Tensor share = weights.sum(0);
  const at::Tensor sums = at::mm(weights.t(), points);  // [n, d]
  Mixture mixture;
  mixture.means = unit_vectors(sums / share.clamp_min(kLeast).unsqueeze(1));
  const at::Tensor squares = (weights.sum(1, true) * points * points).sum(0) - 2 * (mixture.means * sums).sum(0) +
                             (share.unsqueeze(1) * mixture.means * mixture.means).sum(0);
  mixture.variance = (squares / share.sum()).clamp_min(kLeast);
  return mixture;
}

/// Logarithms of probabilities of the images, or of those `apart` [q, d] with what the texts say of them where they are
/// answered beside a pool.
at::Tensor answer_one(const Problem& problem, const at::Tensor& apart, const at::Tensor& text, const Options& options) {
  const double lambda = problem.has_shots() ? options.lambda_few : options.lambda_zero;
  const at::Tensor among = affinity(problem.x, problem.x, /*own=*/true);
  const at::Tensor both_ways = among + among.t();
  at::Tensor from_shots = at::zeros_like(problem.t);
  if (problem.has_shots()) from_shots = at::mm(affinity(problem.s, problem.x, /*own=*/false).t(), problem.y);
  const double likeness = kWeight / (2.0 * kNeighbours);
  const at::Tensor prior = lambda * problem.t.clamp_min(1e-300).log();
  Mixture mixture = first(problem);
  at::Tensor z = problem.t;
  at::Tensor logits;
  for (int64_t step = 0; step <= kSteps; ++step) {
    if (step > 0) mixture = refitted(problem, z, options.gamma);
    const at::Tensor own = mixture.log_likelihood(problem.x);
    for (int64_t inner = 0; inner < kInnerSteps; ++inner) {
      logits = prior + (own + likeness * (at::mm(both_ways, z) + from_shots)) / kWeight;
      z = logits.softmax(1);
    }
  }
  if (!apart.defined()) return logits;
  const at::Tensor near = 2 * at::mm(affinity(apart, problem.x, /*own=*/false), z);
  return lambda * text.clamp_min(1e-300).log() + (mixture.log_likelihood(apart) + likeness * near) / kWeight;
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const ClassText& text) {
  const auto unit = [](const at::Tensor& rows) { return unit_vectors(rows).to(at::kDouble); };
  const auto stated = [&](const at::Tensor& rows) {
    return (options.scale * text.cosines(rows, batch.classes)).softmax(-1);
  };
  const bool pool = batch.unlabelled.defined();
  const at::Tensor x = unit(unlabelled_of(batch));
  const at::Tensor t = stated(x);
  const at::Tensor query = pool ? unit(batch.query) : at::Tensor();
  const at::Tensor query_text = pool ? stated(query) : at::Tensor();
  const EpisodePoints points = supports_and_queries(batch);
  const at::Tensor labels = points.supports_of(points.labels).to(at::kDouble);
  std::vector<at::Tensor> logits;
  for (int64_t i = 0; i < batch.size(); ++i) {
    const at::Tensor there = labels[i].sum(-1).nonzero().flatten();
    const Problem problem{x[i], unit(points.supports_of(points.features)[i].index_select(0, there)),
                          labels[i].index_select(0, there), t[i]};
    logits.push_back(answer_one(problem, pool ? query[i] : at::Tensor(), pool ? query_text[i] : at::Tensor(), options));
  }
  return {at::stack(logits).to(at::kFloat), at::Tensor()};
}

}  // namespace

MethodDefinition trans_clip() {
  MethodSpec spec;
  spec.name = "trans-clip";
  spec.about = "a mixture of Gaussians over all queries, held to what the texts say and to neighbours";
  spec.citation =
      "Zanella, Gérin, Ben Ayed: Boosting Vision-Language Models with Transduction, NeurIPS 2024 (TransCLIP)";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "The source chooses gamma among .002, .01, .02 and .2 on val images of the same classes. Its released code "
      "numbers shots and queries in two orders when it joins neighbours; here shots pull the queries nearest to them, "
      "as the paper has it. Beside a pool, a query has the mixture and the neighbours of the pool.";
  return define_with_text(
      std::move(spec), &answer,
      Parameters<Options>()
          .real("gamma", &Options::gamma, {}, "weight of labelled images in means and variance")
          .tries({"0.002", "0.01", "0.2"})
          .real("lambda_few", &Options::lambda_few, {}, "weight of the texts beside labelled images")
          .real("lambda_zero", &Options::lambda_zero, {}, "weight of the texts without any")
          .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
