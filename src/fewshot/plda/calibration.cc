#include "fewshot/plda/calibration.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace protocom {
namespace {

/// `values` with the leading dimensions' own and one number for all the others.
at::Tensor with_remainder(const at::Tensor& leading, const at::Tensor& others, int64_t size) {
  if (others.numel() == 0) return leading.clone();
  return at::cat({leading, others.mean().expand({size - leading.size(0)})});
}

}  // namespace

HeldOutVariance held_out_variance(const PldaSpace& space, const UnitMoments& held_out, const at::Tensor& predicted) {
  const int64_t classes = held_out.classes.size(0);
  const double degrees = held_out.count.sum().item<double>() - static_cast<double>(classes);
  if (classes < 2 || degrees < 1) {
    fail("expected at least 2 classes and one with two images to measure a space by, found {} classes with {} images",
         classes, held_out.count.sum().item<double>());
  }
  HeldOutVariance seen;
  seen.predictor = space.between;
  seen.leading = space.leading;
  // The diagonal of T' scatter T, without the products that it does not take.
  seen.within = (space.projection * at::matmul(held_out.scatter, space.projection)).sum(0) / degrees;
  const at::Tensor mean = space.transform_means(held_out.mean);
  // The square of a mean of n images exceeds that of its class by within / n.
  const at::Tensor error = seen.within * held_out.count.reciprocal().mean();
  seen.between = mean.square().mean(0) - error;
  seen.residual = predicted.defined() ? (mean - predicted).square().mean(0) - error : seen.between;
  return seen;
}

HeldOutVariance mean_of(const std::vector<HeldOutVariance>& parts) {
  PROTOCOM_CHECK(!parts.empty());
  HeldOutVariance mean = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    mean.predictor = mean.predictor + parts[i].predictor;
    mean.within = mean.within + parts[i].within;
    mean.between = mean.between + parts[i].between;
    mean.residual = mean.residual + parts[i].residual;
    mean.leading = std::min(mean.leading, parts[i].leading);
  }
  const auto n = static_cast<double>(parts.size());
  return {mean.predictor / n, mean.within / n, mean.between / n, mean.residual / n, mean.leading};
}

double strength_of_knowledge(const at::Tensor& predicted, const at::Tensor& means) {
  // The a in |means - a predicted|^2 = min.
  const double length = predicted.square().sum().item<double>();
  return length > 0 ? std::clamp((predicted * means).sum().item<double>() / length, 0.0, 1.0) : 0;
}

at::Tensor VarianceLaw::values(const at::Tensor& between, int64_t leading) const {
  at::Tensor values = at::full_like(between, floor);
  values.narrow(0, 0, leading).copy_((scale * between.narrow(0, 0, leading).pow(power)).clamp_min(floor));
  return values;
}

VarianceLaw fit_variance_law(const at::Tensor& observed, const HeldOutVariance& evidence) {
  const int64_t leading = evidence.leading;
  // What noise made negative is a variance too small to be seen.
  const at::Tensor smallest = observed.clamp_min(0).mean() * 1e-4;
  const at::Tensor target = at::maximum(observed, smallest);
  const at::Tensor seen = target.narrow(0, 0, leading);
  const at::Tensor from = evidence.predictor.narrow(0, 0, leading);
  const at::Tensor base = at::maximum(from, from.max() * 1e-9).clamp_min(std::numeric_limits<double>::min());
  VarianceLaw best;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= 40; ++step) {
    const double power = 0.05 * step;
    const at::Tensor shape = base.pow(power);
    const double scale = (seen / shape).mean().item<double>();
    // -2 log likelihood, up to a factor, of observed variances: sum of log law + seen / law. At the best scale the
    // second terms are 1 in the mean, whatever the power.
    const double loss = (shape.log() + std::log(scale) + 1).sum().item<double>();
    if (loss < least) {
      least = loss;
      best = {scale, power, 0};
    }
  }
  const at::Tensor others = target.narrow(0, leading, target.size(0) - leading);
  best.floor = (others.numel() > 0 ? others.mean() : seen.min()).item<double>();
  return best;
}

PldaCalibration calibrate(const HeldOutVariance& evidence) {
  const int64_t size = evidence.within.size(0);
  const at::Tensor leading = evidence.within.narrow(0, 0, evidence.leading);
  const at::Tensor others = evidence.within.narrow(0, evidence.leading, size - evidence.leading);
  return {fit_variance_law(evidence.between, evidence), fit_variance_law(evidence.residual, evidence),
          at::maximum(with_remainder(leading, others, size), leading.mean())};
}

at::Tensor unit_of(const PldaCalibration& calibration) { return calibration.within.rsqrt(); }

PldaSpace calibrated(const PldaSpace& space, const PldaCalibration& calibration) {
  const at::Tensor scale = unit_of(calibration);
  return {space.center,         space.projection * scale,
          space.offset * scale, calibration.between.values(space.between, space.leading) / calibration.within,
          space.leading,        space.root};
}

at::Tensor residual_variance(const PldaSpace& uncalibrated, const PldaCalibration& calibration) {
  return calibration.residual.values(uncalibrated.between, uncalibrated.leading) / calibration.within;
}

}  // namespace protocom
