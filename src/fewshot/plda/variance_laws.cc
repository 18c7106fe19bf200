#include "fewshot/plda/variance_laws.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace protocom {
namespace {

/// Returns the leading dimensions' own values and the mean for all the others.
DoubleVector with_mean_of_others(DoubleVector values, int64_t leading) {
  const int64_t others = values.size() - leading;
  if (others > 0) values.tail(others).setConstant(values.tail(others).mean());
  return values;
}

DoubleVector mean_square(const DoubleMatrix& rows) {
  return rows.colwise().squaredNorm().transpose() / static_cast<double>(rows.rows());
}

}  // namespace

HeldOutVariance held_out_variance(const PldaSpace& space, const UnitMoments& held_out, const DoubleMatrix& predicted) {
  const auto classes = static_cast<int64_t>(held_out.classes.size());
  const double degrees = held_out.count.sum() - static_cast<double>(classes);
  if (classes < 2 || degrees < 1) {
    fail("held-out classes: expected at least 2, one of them with 2 images, found {} classes with {:.0f} images",
         classes, held_out.count.sum());
  }
  HeldOutVariance seen;
  seen.predictor = space.between;
  seen.leading = space.leading;
  // The diagonal of T' scatter T, without computing the off-diagonal products.
  const DoubleMatrix scattered = held_out.scatter * space.projection;
  seen.within = space.projection.cwiseProduct(scattered).colwise().sum().transpose() / degrees;
  const DoubleMatrix mean = space.transform_means(held_out.mean);
  // The squared mean of n images exceeds that of its class by within / n.
  const DoubleVector error = seen.within * held_out.count.cwiseInverse().mean();
  seen.between = mean_square(mean) - error;
  seen.residual = predicted.size() > 0 ? DoubleVector(mean_square(mean - predicted) - error) : seen.between;
  return seen;
}

HeldOutVariance mean_of(const std::vector<HeldOutVariance>& parts) {
  PROTOCOM_CHECK(!parts.empty());
  HeldOutVariance mean = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    mean.predictor += parts[i].predictor;
    mean.within += parts[i].within;
    mean.between += parts[i].between;
    mean.residual += parts[i].residual;
    mean.leading = std::min(mean.leading, parts[i].leading);
  }
  const auto n = static_cast<double>(parts.size());
  for (DoubleVector* sum : {&mean.predictor, &mean.within, &mean.between, &mean.residual}) *sum /= n;
  return mean;
}

double strength_of_knowledge(const DoubleMatrix& predicted, const DoubleMatrix& means) {
  // The a that minimises |means - a predicted|^2.
  const double length = predicted.squaredNorm();
  return length > 0 ? std::clamp(predicted.cwiseProduct(means).sum() / length, 0.0, 1.0) : 0;
}

DoubleVector VarianceLaw::values(const DoubleVector& between, int64_t leading) const {
  DoubleVector values = DoubleVector::Constant(between.size(), floor);
  values.head(leading) = (scale * between.head(leading).array().pow(power)).max(floor);
  return values;
}

VarianceLaw fit_variance_law(const DoubleVector& observed, const HeldOutVariance& evidence) {
  const int64_t leading = evidence.leading, others = observed.size() - leading;
  // Negative values from noise count as a variance too small to be seen.
  const Eigen::ArrayXd target = observed.cwiseMax(observed.cwiseMax(0).mean() * 1e-4);
  const Eigen::ArrayXd seen = target.head(leading), from = evidence.predictor.head(leading);
  const Eigen::ArrayXd log_base = from.max(from.maxCoeff() * 1e-9).max(std::numeric_limits<double>::min()).log();
  VarianceLaw best;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= 40; ++step) {
    const double power = 0.05 * step;
    const double scale = (seen * (-power * log_base).exp()).mean();
    // -2 log likelihood, up to a factor, of observed variances: sum of log law + seen / law. At the best scale the
    // second terms average 1, whatever the power.
    const double loss = power * log_base.sum() + static_cast<double>(leading) * (std::log(scale) + 1);
    if (loss < least) {
      least = loss;
      best = {scale, power, 0};
    }
  }
  best.floor = others > 0 ? target.tail(others).mean() : seen.minCoeff();
  return best;
}

VarianceLaws fit_variance_laws(const HeldOutVariance& evidence) {
  const double least = evidence.within.head(evidence.leading).mean();
  return {fit_variance_law(evidence.between, evidence), fit_variance_law(evidence.residual, evidence),
          with_mean_of_others(evidence.within, evidence.leading).cwiseMax(least)};
}

DoubleVector unit_of(const VarianceLaws& laws) { return laws.within.cwiseSqrt().cwiseInverse(); }

PldaSpace rescaled(const PldaSpace& space, const VarianceLaws& laws) {
  const DoubleVector scale = unit_of(laws);
  PldaSpace result = space;
  result.projection = space.projection * scale.asDiagonal();
  result.offset = space.offset.cwiseProduct(scale);
  result.between = between_variance(space, laws);
  return result;
}

DoubleVector between_variance(const PldaSpace& space, const VarianceLaws& laws) {
  return laws.between.values(space.between, space.leading).cwiseQuotient(laws.within);
}

DoubleVector residual_variance(const PldaSpace& space, const VarianceLaws& laws) {
  return laws.residual.values(space.between, space.leading).cwiseQuotient(laws.within);
}

}  // namespace protocom
