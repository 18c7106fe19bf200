#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "base/unit_vectors.h"
#include "fewshot/toolbox/detail/assignment.h"
#include "fewshot/toolbox/detail/digamma.h"
#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

constexpr double kLeast = 1e-15;
constexpr int64_t kInnerSteps = 1000;
constexpr int64_t kStepsBetweenChecks = 50;
constexpr double kConverged = 1e-11;  ///< of the squared relative change in one inner step

struct Options {
  double temperature = 30;
  int64_t steps = 20;
  int64_t present = 0;
};

/// One episode: what the texts say of images, probabilities [., n] as features. float64.
struct Simplex {
  at::Tensor unlabelled;  // [u, n]
  at::Tensor labelled;    // [m, n]
  at::Tensor labels;      // [m, n]
  at::Tensor apart;       // [q, n] queries beside a pool, else undefined
};

at::Tensor logarithm(const at::Tensor& z) { return (z + kLeast).log(); }

/// log Dirichlet(z; alpha_k) of log z [u, n] for each row of alpha [k, n]: [u, k].
at::Tensor log_density(const at::Tensor& log_z, const at::Tensor& alpha) {
  return at::mm(log_z, (alpha - 1).t()) + at::lgamma(alpha.sum(1)) - at::lgamma(alpha).sum(1);
}

/// Twice (a digamma(a + 1) - log Gamma(a + 1)) / a^2, given the digamma: the curvature of the parabola through
/// log Gamma(1) that touches log Gamma(a + 1) from above. Near 0, where the difference cancels, by its series.
double curvature_at(double a, double slope) {
  constexpr double kSmall = 1e-2;
  if (a < kSmall) return 1.6449340668482264 - a * (1.6027425375461270 - a * (1.6234848505667070 - a * 1.6590844082293));
  return 2 * (slope * a - std::lgamma(a + 1)) / (a * a);
}

/// One step of rows of alpha [k, n] towards the likeliest ones, given the mean of log z in each class; the squared
/// change of each row. Of the likelihood log Gamma(sum alpha) - sum log Gamma(alpha) + sum (alpha - 1) mean, the first
/// term is bounded by its tangent and log Gamma(alpha) = log Gamma(alpha + 1) - log alpha by a parabola and the
/// logarithm; the bound's maximum is a root of curvature alpha^2 + b alpha - 1.
void step_towards_likeliest(at::Tensor* alpha, const at::Tensor& mean, std::vector<double>* changes) {
  constexpr int64_t kNumbersOfAThread = 2000;
  const int64_t n = alpha->size(1);
  auto* rows = alpha->data_ptr<double>();
  const auto* means = mean.data_ptr<double>();
  parallel_for(0, alpha->size(0), std::max<int64_t>(kNumbersOfAThread / n, 1), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      double* row = rows + k * n;
      const double total = digamma(std::accumulate(row, row + n, 0.0));
      double change = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double slope = digamma(row[j] + 1);
        const double curvature = curvature_at(row[j], slope);
        const double b = slope - total - curvature * row[j] - means[k * n + j];
        const double next = (std::sqrt(b * b + 4 * curvature) - b) / (2 * curvature);
        change += (next - row[j]) * (next - row[j]);
        row[j] = next;
      }
      (*changes)[static_cast<size_t>(k)] = change;
    }
  });
}

at::Tensor likeliest(const at::Tensor& from, const at::Tensor& mean) {
  at::Tensor alpha = from.clone();
  const at::Tensor means = mean.contiguous();
  std::vector<double> changes(static_cast<size_t>(alpha.size(0)));
  for (int64_t step = 0; step < kInnerSteps; ++step) {
    const bool is_checked = step > 0 && step % kStepsBetweenChecks == 0;
    const double size = is_checked ? alpha.square().sum().item<double>() : 0;
    step_towards_likeliest(&alpha, means, &changes);
    if (is_checked && std::accumulate(changes.begin(), changes.end(), 0.0) < kConverged * size) break;
  }
  return alpha;
}

/// Clusters of images to which no labelled image gives a name: the class of each, so that their mean probabilities
/// agree most. Columns of logits [., n] move to it; clusters without an image take the classes that are left.
at::Tensor named_by_texts(const at::Tensor& u, const at::Tensor& z, const at::Tensor& logits) {
  const int64_t n = u.size(1);
  const at::Tensor members = at::one_hot(u.argmax(1), n).to(at::kDouble);  // [u, n]
  const at::Tensor there = members.sum(0).nonzero().flatten();
  const at::Tensor means = at::mm(members.t(), z) / members.sum(0).clamp_min(1).unsqueeze(1);
  const std::vector<int64_t> classes = best_assignment(means.index_select(0, there));
  std::vector<int64_t> cluster_of(static_cast<size_t>(n), -1);
  for (size_t i = 0; i < classes.size(); ++i) cluster_of[classes[i]] = there[static_cast<int64_t>(i)].item<int64_t>();
  std::vector<char> is_taken(static_cast<size_t>(n), 0);
  for (const int64_t cluster : cluster_of)
    if (cluster >= 0) is_taken[cluster] = 1;
  int64_t next = 0;
  for (int64_t& cluster : cluster_of) {
    if (cluster >= 0) continue;
    while (is_taken[next]) ++next;
    cluster = next++;
  }
  return logits.index_select(1, at::tensor(cluster_of, at::kLong));
}

/// lambda over the number of queries: how many times more classes there are than occur.
double weight_of_shares(int64_t n, int64_t present) {
  return present == 0 ? 1 : static_cast<double>(std::max<int64_t>(n / present, 1));
}

/// EM: alpha from responsibilities u, then the classes' shares, then u.
at::Tensor answer_one(const Simplex& images, const Options& options) {
  const int64_t n = images.labels.size(1);
  const at::Tensor log_z = logarithm(images.unlabelled);
  const at::Tensor from_labelled = at::mm(images.labels.t(), logarithm(images.labelled));
  const at::Tensor asked = images.apart.defined() ? logarithm(images.apart) : log_z;
  at::Tensor u = images.unlabelled;
  at::Tensor alpha = at::ones({n, n}, u.options());
  at::Tensor shares;
  for (int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor count = images.labels.sum(0) + u.sum(0);
    const at::Tensor mean = (from_labelled + at::mm(u.t(), log_z)) / count.clamp_min(kLeast).unsqueeze(1);
    const at::Tensor used = (count > kLeast).nonzero().flatten();  // an empty class keeps what it has
    alpha = alpha.index_copy(0, used, likeliest(alpha.index_select(0, used), mean.index_select(0, used)));
    shares = weight_of_shares(n, options.present) * (u.sum(0) / std::max<int64_t>(u.size(0), 1) + kLeast).log();
    u = (log_density(log_z, alpha) + shares).softmax(1);
  }
  const at::Tensor logits = log_density(asked, alpha) + shares;
  return images.labelled.size(0) > 0 ? logits : named_by_texts(u, images.unlabelled, logits);
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const ClassText& text) {
  const auto stated = [&](const at::Tensor& rows) {
    return (options.temperature * text.cosines(unit_vectors(rows), batch.classes).to(at::kDouble)).softmax(-1);
  };
  const EpisodePoints points = supports_and_queries(batch);
  const at::Tensor labels = points.supports_of(points.labels).to(at::kDouble);
  const at::Tensor labelled = stated(points.supports_of(points.features));
  const at::Tensor unlabelled = stated(unlabelled_of(batch));
  const at::Tensor apart = batch.unlabelled.defined() ? stated(batch.query) : at::Tensor();
  std::vector<at::Tensor> logits;
  for (int64_t i = 0; i < batch.size(); ++i) {
    const at::Tensor there = labels[i].sum(-1).nonzero().flatten();
    logits.push_back(answer_one({unlabelled[i], labelled[i].index_select(0, there), labels[i].index_select(0, there),
                                 apart.defined() ? apart[i] : at::Tensor()},
                                options));
  }
  return {at::stack(logits).to(at::kFloat), at::Tensor()};
}

}  // namespace

MethodDefinition em_dirichlet() {
  MethodSpec spec;
  spec.name = "em-dirichlet";
  spec.about = "clusters of what the texts say of the queries: a Dirichlet distribution for each class";
  spec.citation =
      "Martin, Huang, Shakeri, Pesquet, Ben Ayed: Transductive Zero-Shot and Few-Shot CLIP, CVPR 2024 (EM-Dirichlet)";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "Of an image only its probabilities by the texts count, the softmax of the cosines. Without photos each cluster "
      "gets the class that fits it best, one each. The source's tasks have queries of 5 of all classes and its program "
      "is told so, also with photos: `present=5`.";
  return define_with_text(
      std::move(spec), &answer,
      Parameters<Options>()
          .real("temperature", &Options::temperature, {}, "factor of the cosines in the softmax")
          .whole("steps", &Options::steps, {1, 1e5}, "of all three updates")
          .whole(
              "present", &Options::present, {0, 1e9},
              "classes that occur among the queries, 0: all; the logarithms of the classes' shares count n / present "
              "times, rounded down"));
}

}  // namespace protocom::methods
