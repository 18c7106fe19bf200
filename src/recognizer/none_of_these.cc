#include "recognizer/detail/none_of_these.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr double kPenalty = 1e-3;  // on the standardised slope: it bounds the slope for separable images
constexpr double kLeastSlope = 1e-2;
constexpr int kSteps = 30;

/// Formats a whole number of any size: for a tiny rate it exceeds every integer type.
std::string count_text(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:g}", count);
}

/// Returns the rank of the quantile among the sorted `others`, from 1; above their number if there are too few.
int64_t quantile_rank(const Familiarities& of, double rate) {
  const auto n = static_cast<double>(of.others.size());
  return to_whole<int64_t>(std::ceil((n + 1) * (1 - rate / of.likelier) - 1e-9));
}

double at_place(const Familiarities& of, int64_t place) {
  DoubleVector sorted = of.others;
  std::nth_element(sorted.begin(), sorted.begin() + (place - 1), sorted.end());
  return sorted[place - 1];
}

/// Returns the share of values above a threshold.
double share_above(const DoubleVector& values, double threshold) {
  return static_cast<double>((values.array() > threshold).count()) / static_cast<double>(values.size());
}

double variance_of(const DoubleVector& values) {
  return (values.array() - values.mean()).square().sum() / static_cast<double>(values.size() - 1);
}

/// The conformal quantile at kOwnAim needs this many values.
constexpr double kConformal = 1 / kOwnAim - 1;
/// Normal quantile of half of kOwnRefused.
constexpr double kNormalOfHalf = 1.9599640;

/// Returns Student's t exceeded as often as a normal variable exceeds z, by the expansion of Fisher and Cornish
/// (Technometrics 1960): accurate to 1 % from three degrees of freedom on.
double students_t(double z, double freedom) {
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

/// Returns all familiarities, [m + k], own images first.
DoubleVector all_of(const Familiarities& of) {
  DoubleVector all(of.own.size() + of.others.size());
  all << of.own, of.others;
  return all;
}

}  // namespace

double threshold_of(const Familiarities& of, double rate) {
  const int64_t n = of.others.size();
  const int64_t place = quantile_rank(of, rate);
  if (place > n) {
    const double own = rate / of.likelier;
    fail(
        "a false-accept rate of {} needs at least {} unknown images, found {}: give more of them (others), or request "
        "{:.3f} or more",
        rate, count_text(std::ceil((1 - own) / own - 1e-9)), n,
        std::ceil(1000 * of.likelier / static_cast<double>(n + 1)) / 1000);
  }
  return at_place(of, place);
}

double own_threshold(const DoubleVector& own) {
  const auto n = static_cast<double>(own.size());
  DoubleVector sorted = own;
  std::sort(sorted.begin(), sorted.end());
  if (n >= kConformal) return sorted[to_whole<int64_t>(std::floor((n + 1) * kOwnAim + 1e-9)) - 1];
  return std::min(sorted[0], own.mean() - students_t(kNormalOfHalf, n - 1) * std::sqrt(variance_of(own) * (1 + 1 / n)));
}

double own_slope(const DoubleVector& own, double threshold) {
  constexpr double kLeastVariance = 1e-12;
  const double slope = 2 * (own.mean() - threshold) / std::max(variance_of(own), kLeastVariance);
  return std::clamp(slope, kLeastSlope, 1 / kLeastVariance);
}

double balanced_threshold(const Familiarities& of) {
  DoubleVector all = all_of(of);
  std::sort(all.begin(), all.end());
  double best = all[0], least = 2;
  for (const double threshold : all) {
    const double refused = 1 - share_above(of.own, threshold);
    const double apart = std::abs(share_above(of.others, threshold) - refused);
    if (!(apart < least)) continue;
    least = apart;
    best = threshold;
  }
  return best;
}

Exchange exchange_at(const Familiarities& of, double threshold) {
  return {std::min(1.0, of.likelier * share_above(of.others, threshold)), share_above(of.own, threshold), threshold};
}

std::vector<Exchange> exchanges_of(const Familiarities& of) {
  std::vector<Exchange> found;
  for (const double rate : kExchangeRates) {
    const int64_t place = quantile_rank(of, rate);
    if (place > of.others.size()) continue;
    const double threshold = at_place(of, place);
    found.push_back({rate, exchange_at(of, threshold).accepted, threshold});
  }
  return found;
}

double slope_of(const Familiarities& of) {
  const DoubleVector all = all_of(of);
  const double mean = all.mean(), freedom = std::max<double>(1, static_cast<double>(all.size() - 1));
  const double deviation = std::max(std::sqrt((all.array() - mean).square().sum() / freedom), 1e-12);
  const int64_t own = of.own.size(), others = of.others.size();
  Eigen::ArrayXd is(all.size()), weight(all.size());
  is << Eigen::ArrayXd::Ones(own), Eigen::ArrayXd::Zero(others);
  weight << Eigen::ArrayXd::Constant(own, 0.5 / static_cast<double>(own)),
      Eigen::ArrayXd::Constant(others, 0.5 / static_cast<double>(others));
  Eigen::MatrixX2d design(all.size(), 2);
  design << (all.array() - mean) / deviation, Eigen::ArrayXd::Ones(all.size());
  Eigen::Vector2d found = Eigen::Vector2d::Zero();
  for (int step = 0; step < kSteps; ++step) {
    const Eigen::ArrayXd p = (1 + (-(design * found).array()).exp()).inverse();
    const Eigen::Vector2d gradient = design.transpose() * (weight * (p - is)).matrix() + kPenalty * found;
    const Eigen::Matrix2d curvature = design.transpose() * (weight * p * (1 - p)).matrix().asDiagonal() * design +
                                      kPenalty * Eigen::Matrix2d::Identity();
    found -= curvature.ldlt().solve(gradient);
  }
  return std::max(found[0], kLeastSlope) / deviation;
}

}  // namespace protocom
