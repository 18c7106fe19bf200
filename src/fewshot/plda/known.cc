#include "fewshot/plda/detail/known.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fewshot/plda/model.h"

namespace protocom {
namespace {

constexpr double kPenalty = 1e-4;
constexpr int kSteps = 20;
constexpr double kMostOdds = 500;  // logarithm: exponentials stay finite
constexpr double kLeastAlike = 0.01;
constexpr double kMostAlike = 1;
constexpr double kAlikeFactor = 1.25;

/// Ratios [m], standardised so that one penalty suits slope and offset in any unit, and a column of 1.
using Design = Eigen::Matrix<double, Eigen::Dynamic, 2>;

/// Returns exp(-log odds) [m] of being one of the classes, without the alike share.
Eigen::ArrayXd odds_against(const Design& design, const Eigen::Vector2d& weight) {
  return (-(design * weight).array().min(kMostOdds).max(-kMostOdds)).exp();
}

/// Returns Newton's step with the expected curvature, for the weights of `design`.
Eigen::Vector2d scoring_step(const Design& design, const DoubleVector& is_known, const Eigen::Vector2d& weight,
                             double alike) {
  const auto m = static_cast<double>(is_known.size());
  const Eigen::ArrayXd against = odds_against(design, weight);
  const Eigen::ArrayXd p = (1 + alike + against).inverse();
  // The log odds are -log(l + exp(-w)) with w of the weights; this is their derivative by w. (p - is_known) is that of
  // the loss by the log odds.
  const Eigen::ArrayXd slope = against / (alike + against);  // derivative of the total log odds by these
  const DoubleVector residual = (p - is_known.array()) * slope;
  const Eigen::Vector2d gradient = design.transpose() * residual / m + kPenalty * weight;
  const DoubleVector spread = p * (1 - p) * slope.square();
  const Eigen::Matrix2d curvature =
      design.transpose() * spread.asDiagonal() * design / m + kPenalty * Eigen::Matrix2d::Identity();
  return curvature.ldlt().solve(gradient);
}

/// With odds o against, -log p = log(1 + o) and -log(1 - p) = log(1 + o) - log o.
double log_loss(const Design& design, const DoubleVector& is_known, const Eigen::Vector2d& weight, double alike) {
  const Eigen::ArrayXd against = alike + odds_against(design, weight);
  return (against.log1p() - (1 - is_known.array()) * against.log()).mean();
}

}  // namespace

KnownChance fit_known_chance(const DoubleVector& ratio, const DoubleVector& is_known) {
  const double mean = ratio.mean();
  const double freedom = std::max<double>(static_cast<double>(ratio.size()) - 1, 1);
  const double deviation = std::max(std::sqrt((ratio.array() - mean).square().sum() / freedom), 1e-12);
  Design design(ratio.size(), 2);
  design.col(0) = (ratio.array() - mean) / deviation;
  design.col(1).setOnes();
  Eigen::Vector2d weight = Eigen::Vector2d::Zero();
  KnownChance best;
  double least = std::numeric_limits<double>::infinity();
  for (double alike = 0; alike <= kMostAlike; alike = std::max(kLeastAlike, alike * kAlikeFactor)) {
    for (int step = 0; step < kSteps; ++step) weight -= scoring_step(design, is_known, weight, alike);
    const double loss = log_loss(design, is_known, weight, alike);
    // The loss has one minimum over l; the weights start from those of the previous l.
    if (!(loss < least)) break;
    least = loss;
    const double slope = weight[0] / deviation;
    best = {slope, weight[1] - slope * mean, alike};
  }
  return best;
}

double log_odds_of_none(double ratio, const KnownChance& chance) {
  const double alike = std::log(chance.alike), against = -(chance.slope * ratio + chance.offset);
  return std::max(alike, against) + std::log1p(std::exp(std::min(alike, against) - std::max(alike, against)));
}

DoubleVector known_ratio(const DoubleMatrix& scores, const DoubleVector& none, double scale) {
  const DoubleVector best = scores.rowwise().maxCoeff();
  const DoubleMatrix shares = (scale * (scores.colwise() - best)).array().exp();
  return best.array() + shares.rowwise().mean().array().log() / scale - none.array();
}

TaskScale task_scale(const PldaModel& model, double images, double asked) {
  TaskScale scale;
  scale.known = model.inductive_scale.at(images);
  scale.logits = asked > 0 ? asked : scale.known;
  scale.by_best = model.known_by_best;
  scale.chance = {model.known_slope.at(images), model.known_offset.at(images), model.known_alike.at(images)};
  return scale;
}

void compute_unseen(const DoubleMatrix& predictive, const DoubleVector& none, const TaskScale& scale,
                    const float* logits, float* unseen) {
  const DoubleVector ratio =
      scale.by_best ? DoubleVector(predictive.rowwise().maxCoeff() - none) : known_ratio(predictive, none, scale.known);
  const int64_t n = predictive.cols();
  for (int64_t i = 0; i < predictive.rows(); ++i) {
    const Eigen::Map<const Eigen::RowVectorXf> own(logits + i * n, n);
    const double best = own.maxCoeff();
    const double all = best + std::log((own.cast<double>().array() - best).exp().sum());
    unseen[i] = static_cast<float>(all + log_odds_of_none(ratio[i], scale.chance));
  }
}

}  // namespace protocom
