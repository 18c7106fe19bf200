#include "fewshot/plda/detail/known.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace protocom {
namespace {

constexpr double kPenalty = 1e-4;
constexpr int kSteps = 20;
constexpr double kMostOdds = 500;  // logarithm: exponentials stay finite
constexpr double kLeastAlike = 0.01;
constexpr double kMostAlike = 1;
constexpr double kAlikeFactor = 1.25;

/// The logarithm of the odds [m] for one of the classes, but for those that are alike.
at::Tensor log_odds(const at::Tensor& design, const at::Tensor& weight) {
  return at::mv(design, weight).clamp(-kMostOdds, kMostOdds);
}

/// Newton's step with the expected curvature, of the weights [2] of `design` [m, 2].
at::Tensor scoring_step(const at::Tensor& design, const at::Tensor& is, const at::Tensor& weight, double alike) {
  const at::Tensor against = (-log_odds(design, weight)).exp();
  const at::Tensor p = (1 + alike + against).reciprocal();
  // The log odds are -log(l + exp(-w)) with w of the weights; this is their derivative by w. (p - is) is that of the
  // loss by the log odds.
  const at::Tensor slope = against / (alike + against);  // of all log odds, by those
  const at::Tensor gradient = at::mv(design.t(), (p - is) * slope) / is.numel() + kPenalty * weight;
  const at::Tensor spread = p * (1 - p) * slope.square();
  const at::Tensor curvature =
      at::mm(design.t(), design * spread.unsqueeze(1)) / is.numel() + kPenalty * at::eye(2, at::kDouble);
  return at::linalg_solve(curvature, gradient);
}

/// With odds o against, -log p = log(1 + o) and -log(1 - p) = log(1 + o) - log o.
double log_loss(const at::Tensor& design, const at::Tensor& is, const at::Tensor& weight, double alike) {
  const at::Tensor against = alike + (-log_odds(design, weight)).exp();
  return (against.log1p() - (1 - is) * against.log()).mean().item<double>();
}

}  // namespace

at::Tensor known_ratio(const at::Tensor& scores, const at::Tensor& none, const at::Tensor& scale) {
  const auto classes = static_cast<double>(scores.size(-1));
  return ((scale * scores).logsumexp(-1) - std::log(classes)) / scale.squeeze(-1) - none;
}

KnownChance fit_known_chance(const at::Tensor& ratio, const at::Tensor& is) {
  const double mean = ratio.mean().item<double>();
  const double deviation = std::max(ratio.std().item<double>(), 1e-12);
  // In deviations from the mean, so that one penalty suits slope and offset whatever the unit of the ratio.
  const at::Tensor design = at::stack({(ratio - mean) / deviation, at::ones_like(ratio)}, 1);
  at::Tensor weight = at::zeros({2}, at::kDouble);
  KnownChance best;
  double least = std::numeric_limits<double>::infinity();
  for (double alike = 0; alike <= kMostAlike; alike = std::max(kLeastAlike, alike * kAlikeFactor)) {
    for (int step = 0; step < kSteps; ++step) weight = weight - scoring_step(design, is, weight, alike);
    const double loss = log_loss(design, is, weight, alike);
    // The loss has one minimum over l, and the weights go on from those of the l before.
    if (!(loss < least)) break;
    least = loss;
    const double slope = weight[0].item<double>() / deviation;
    best = {slope, weight[1].item<double>() - slope * mean, alike};
  }
  return best;
}

at::Tensor log_odds_of_none(const at::Tensor& ratio, const at::Tensor& slope, const at::Tensor& offset,
                            const at::Tensor& alike) {
  return at::logaddexp(alike.log(), -(slope * ratio + offset));
}

EpisodeScores scaled_scores(const std::vector<double>& predictive, const std::vector<double>& none, int64_t classes,
                            const EpisodeScale& scale) {
  const auto q = static_cast<int64_t>(none.size());
  EpisodeScores scores{at::empty({1, q, classes}), at::Tensor(), at::empty({1, q})};
  float* logits = scores.logits.data_ptr<float>();
  const double of_any = std::log(static_cast<double>(classes)), alike = std::log(scale.chance.alike);
  for (int64_t i = 0; i < q; ++i) {
    const double* row = predictive.data() + i * classes;
    const double best = *std::max_element(row, row + classes);
    const auto sum = [&](double factor) {
      double all = 0;
      for (int64_t c = 0; c < classes; ++c) all += std::exp(factor * (row[c] - best));
      return std::log(all);
    };
    for (int64_t c = 0; c < classes; ++c) logits[i * classes + c] = static_cast<float>(scale.logits * row[c]);
    double ratio = best - none[static_cast<size_t>(i)];
    const double known = sum(scale.known);
    if (!scale.by_best) ratio += (known - of_any) / scale.known;
    const double against = -(scale.chance.slope * ratio + scale.chance.offset);
    const double more = std::max(alike, against);
    const double odds = more + std::log1p(std::exp(std::min(alike, against) - more));
    scores.unseen.data_ptr<float>()[i] =
        static_cast<float>(scale.logits * best + (scale.logits == scale.known ? known : sum(scale.logits)) + odds);
  }
  return scores;
}

}  // namespace protocom
