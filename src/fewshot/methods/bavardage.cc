#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/detail/feature_space.h"
#include "fewshot/toolbox/detail/soft_k_means_steps.h"
#include "fewshot/toolbox/detail/span_whitening.h"

namespace protocom::methods {
namespace {

struct Options {
  double precision = 0;
  int64_t steps = 5;
  double start_sharpness = 10;
  int64_t start_steps = 5;
  double most_scale = 5;
  std::string whitened = "whole";
  double prior_strength = 10;
  double dirichlet = 2;
  std::string proportions = "estimated";
};

/// What is known of base classes, in float64.
struct BaseClasses {
  at::Tensor shared;  ///< [d, d], the mean over classes of their scatters brought to one (their mean) norm
  at::Tensor within;  ///< [d, d], covariance of images around their class
  at::Tensor means;   ///< [c, d], less their mean
};

BaseClasses base_classes(const at::Tensor& features, const at::Tensor& labels) {
  const int64_t d = features.size(1);
  at::Tensor shared = at::zeros({d, d}, at::kDouble);
  at::Tensor within = at::zeros({d, d}, at::kDouble);
  std::vector<at::Tensor> means;
  double norms = 0;
  int64_t classes = 0;
  for (int64_t label = 0; label <= labels.max().item<int64_t>(); ++label) {
    const at::Tensor own = features.index({labels.eq(label)});
    if (own.size(0) == 0) continue;
    means.push_back(own.mean(0).to(at::kDouble));
    const at::Tensor rest = own - own.mean(0, true);
    const at::Tensor scatter = at::matmul(rest.t(), rest).to(at::kDouble);
    const double norm = scatter.norm().item<double>();
    if (norm == 0) continue;
    within += scatter;
    shared += scatter / norm;
    norms += norm;
    ++classes;
  }
  if (classes > 0) shared = shared * (norms / static_cast<double>(classes * classes));
  const at::Tensor all = at::stack(means);
  return {shared, within / static_cast<double>(features.size(0)), all - all.mean(0, true)};
}

/// Rotates to the axes of the scatter and divides by their standard deviations, [d, d]; no factor above `most`.
at::Tensor whitening(const at::Tensor& scatter, double most) {
  constexpr double kRidge = 1e-6;
  const auto [values, vectors] = at::linalg_eigh(scatter + kRidge * at::eye(scatter.size(0), scatter.options()));
  return vectors * values.clamp_min(kRidge).rsqrt().clamp_max(most);
}

/// A fifth of 1 / (variance of base images around their class), in the whitened dimensions in which classes differ.
double default_precision(const BaseClasses& base, const at::Tensor& whitening) {
  constexpr double kShare = 0.2;
  const int64_t between = std::max<int64_t>(base.means.size(0) - 1, 1);
  const at::Tensor axes = std::get<2>(at::linalg_svd(at::matmul(base.means, whitening), /*full_matrices=*/false));
  const at::Tensor along = at::matmul(axes.slice(0, 0, between), whitening.t());  // [c - 1, d]
  const double variance = (at::matmul(along, base.within) * along).sum(-1).mean().item<double>();
  return kShare / std::max(variance, 1e-12);
}

/// The points projected on the differences of class means, [b, m, n - 1], in an orthonormal base of them.
at::Tensor projected(const Span& span, const at::Tensor& means) {
  const at::Tensor differences = means.slice(1, 1) - means.slice(1, 0, 1);   // [b, n - 1, m]
  const at::Tensor inner = span.products(differences);                       // [b, m, n - 1]
  const at::Tensor square = at::matmul(differences, inner).to(at::kDouble);  // [b, n - 1, n - 1]
  const at::Tensor size = square.diagonal(0, 1, 2).mean(-1).view({-1, 1, 1}) + 1e-30;
  const at::Tensor ridge = 1e-9 * size * at::eye(square.size(1), square.options());  // two means may be one
  const at::Tensor factor = at::linalg_cholesky(square + ridge);
  return at::linalg_solve_triangular(factor, inner.transpose(1, 2).to(at::kDouble), /*upper=*/false)
      .transpose(1, 2)
      .to(at::kFloat);
}

/// One update of all factors from responsibilities [b, m, n]: the expected log probabilities, [b, m, n].
at::Tensor expected(const EpisodePoints& points, const Span& span, const at::Tensor& r, const Options& options) {
  const at::Tensor strength = options.prior_strength + r.sum(1, true);  // [b, 1, n]
  const at::Tensor shrunk = (r / strength).transpose(1, 2);             // means under a prior at 0, [b, n, m]
  const at::Tensor x = projected(span, shrunk);
  const at::Tensor mean = at::matmul(shrunk, x);  // [b, n, n - 1]
  const at::Tensor square = (x.unsqueeze(2) - mean.unsqueeze(1)).square().sum(-1);
  const at::Tensor logits = -options.precision / 2 * square - static_cast<double>(x.size(2)) / 2 / strength;
  if (options.proportions == "equal") return logits;
  const at::Tensor alpha = options.dirichlet + r.sum(1, true) - points.shots().unsqueeze(1);
  return logits + alpha.digamma() - alpha.sum(-1, true).digamma();
}

/// `whitens` [d, d], float32.
EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const at::Tensor& whitens) {
  EpisodePoints points = episode_points(batch);
  const Span start(points.features);
  const at::Tensor means = soft_k_means_steps(points, start, {options.start_sharpness, options.start_steps - 1});
  at::Tensor logits = -options.start_sharpness * start.squared_distances(means);
  points.features = options.whitened == "span" ? whitened_in_span(points, whitens, options.most_scale)
                                               : at::matmul(points.features, whitens);
  const Span span(points.features);
  for (int64_t step = 0; step < options.steps && points.labels.size(2) > 1; ++step)
    logits = expected(points, span, points.with_unlabelled(class_softmax(points.unlabelled_of(logits))), options);
  return {points.queries_of(logits), at::Tensor()};
}

std::unique_ptr<Scorer> scorer(Options options, const MethodContext& context) {
  const auto space = std::make_shared<FeatureSpace>("cl2n", context);
  const BaseClasses base = base_classes(space->map(context.base->features), context.base->labels);
  const double most = options.whitened == "span" ? std::numeric_limits<double>::infinity() : options.most_scale;
  const at::Tensor whitens = whitening(base.shared, most);
  if (options.precision == 0) options.precision = default_precision(base, whitens);
  const auto own = [options, single = whitens.to(at::kFloat)](const EpisodeBatch& batch) {
    return answer(batch, options, single);
  };
  return scorer_of(own, space);
}

}  // namespace

MethodDefinition bavardage() {
  MethodSpec spec;
  spec.name = "bavardage";
  spec.about = "variational Bayes for classes and their proportions, between whose means only the images are compared";
  spec.citation =
      "Hu, Pateux, Gripon: Adaptive Dimension Reduction and Variational Inference for Transductive Few-Shot "
      "Classification, AISTATS 2023";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The base classes’ scatter is whitened in all dimensions; the authors’ code does so within each episode’s span "
      "(whitened=span), which is the same but for the limit most_scale: with published precisions give one or "
      "most_scale=1000, which is none. "
      "These are 4, 40 and 100, for different backbones; a scatter is a sum over images, so that they depend on the "
      "number of base images too. The default does not: the "
      "share .2 was chosen on the val classes of Tiny-ImageNet-100 and CUB-100, where it comes to 104 and 16 and 4 "
      "lets the largest class take all queries of the first.";
  return define_scorer(
      std::move(spec), &scorer,
      Parameters<Options>()
          .real("precision", &Options::precision, {},
                "of every class in every dimension; 0: .2 / (variance of base images around their class, between "
                "classes)")
          .tries({"4", "15", "40", "100"})
          .whole("steps", &Options::steps, {0, 1e5}, "of variational Bayes")
          .real("start_sharpness", &Options::start_sharpness, {1e-6}, "of the soft k-means that begins")
          .tries({"5", "20"})
          .whole("start_steps", &Options::start_steps, {1, 1e5}, "of it")
          .real("most_scale", &Options::most_scale, {1e-6}, "limit of a whitened dimension’s factor")
          .choice("whitened", &Options::whitened, {"whole", "span"},
                  "all dimensions, or those that the episode’s images span")
          .real("prior_strength", &Options::prior_strength, {}, "of the means’ prior at 0, in images")
          .tries({"1", "3"})
          .real("dirichlet", &Options::dirichlet, {1e-6}, "prior of each class’s number of queries")
          .tries({"1", "5"})
          .choice("proportions", &Options::proportions, {"estimated", "equal"}, "of the classes"));
}

}  // namespace protocom::methods
