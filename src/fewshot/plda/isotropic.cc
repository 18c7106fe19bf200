#include "fewshot/plda/detail/isotropic.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

namespace protocom {
namespace {

/// The least between-class variance of a space that was not fitted, in units of the within-class variance: a few
/// classes may be closer together by chance.
constexpr double kLeastBetween = 0.05;
/// The between-class variance if no class has two images, so that the two variances cannot be separated. CLIP and
/// ResNet features of birds and objects have .4 to 1.4.
constexpr double kUnknownBetween = 1;

/// Scale times spread at which certainty equals accuracy, over val and base classes of CUB-100 and Tiny-ImageNet-100,
/// Caltech-101 and ImageNet, four encoders, 3 to 200 classes at once (docs/methods/plda-own-photos.md): the averages
/// for one image, for halves and for folds, and the growth from halves of two images and thirds of three to all of
/// them.
constexpr double kScaledSpreadOfOne = 1.4, kScaledSpreadOfHalves = 1.4, kScaledSpreadOfFolds = 2;
constexpr double kGrowthFromHalves = 1.5, kGrowthFromThirds = 1.35;
constexpr double kDeviationOfScaledSpread = 0.4;

/// The average spread of those encoders without a space, and its variance, in pairs of classes.
constexpr SpreadPrior kOwnSpread{36, 6};

/// Log densities in few dimensions, as of a table of measurements, are nearly right, while encoders' features have many
/// dependent dimensions: with one image per class the scale is this one up to the first number of dimensions, and
/// decreases (geometrically) up to the second (benchmarks/few_columns).
constexpr double kScaleOfFewDims = 0.7, kFewDims = 16, kManyDims = 64;

/// Upper bound of adaptation.degrees, in images per dimension: 1000 was chosen with 512 to 1280 dimensions, and in few
/// dimensions would outweigh the labelled images.
constexpr double kDegreesPerDimension = 2;
/// The fewest degrees per class, if each class has one image.
constexpr double kDegreesPerLoneImage = 60;

/// Found on val and base classes of CUB-100 and Tiny-ImageNet-100, ImageNet classes, four encoders: as good as .2, and
/// nowhere worse than 1.
constexpr double kClassMeanWeight = 0.4;

/// Multiples of the default degrees, in the order in which they are tried: more, and less.
constexpr std::initializer_list<double> kMoreDegrees = {3}, kLessDegrees = {0.3, 0.1};

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Isotropic isotropic_variances(const IsotropicSums& sums) {
  const double spread = sums.classes > 1 ? sums.between / sums.dims : 1 / sums.dims;
  const double within = sums.within / sums.dims / std::max(sums.images - sums.classes, 1.0);
  if (!(within > 0)) return {std::max(spread, 1e-12) / (1 + kUnknownBetween), kUnknownBetween};
  return {within, std::max(spread / within - sums.error, kLeastBetween)};
}

double center_share(const PldaAdaptation& adaptation, int64_t classes) {
  const auto n = static_cast<double>(classes);
  return n / (n + adaptation.center_classes);
}

double isotropic_center_share(const PldaAdaptation& adaptation, int64_t classes, bool root) {
  return root && !adaptation.unlabelled ? 0 : center_share(adaptation, classes);
}

double isotropic_degrees(const PldaAdaptation& adaptation, double dims, int64_t images, int64_t classes) {
  if (adaptation.fixed_degrees > 0) return adaptation.fixed_degrees;
  const bool alone = images == classes && !adaptation.unlabelled;
  const double least = alone ? kDegreesPerLoneImage * static_cast<double>(classes) : 0;
  return std::min(std::max(adaptation.degrees, least), kDegreesPerDimension * dims);
}

double class_mean_weight(const PldaAdaptation& adaptation, int64_t images, int64_t classes) {
  if (adaptation.fixed_class_means >= 0) return adaptation.fixed_class_means;
  return images == classes || adaptation.unlabelled ? 1 : kClassMeanWeight;
}

ChosenDegrees choose_isotropic_degrees(double usual,
                                       const std::function<std::optional<ScaledLoss>(double degrees)>& answers) {
  ChosenDegrees chosen{usual, answers(usual)};
  if (!chosen.left_out) return chosen;
  const std::vector<double> first = chosen.left_out->loss;
  double least = sum_of(first);
  for (const auto& factors : {kMoreDegrees, kLessDegrees}) {
    double before = sum_of(first);
    for (const double factor : factors) {
      std::optional<ScaledLoss> other = answers(factor * usual);
      const double sum = sum_of(other->loss);
      if (!(sum < before)) break;
      before = sum;
      if (!(sum < least) || !surely_less(other->loss, first)) continue;
      least = sum;
      chosen = {factor * usual, std::move(other)};
    }
  }
  return chosen;
}

ScalePrior scale_prior(int64_t fewest) {
  return {fewest < kFewestOfFolds ? kScaledSpreadOfHalves : kScaledSpreadOfFolds, kDeviationOfScaledSpread};
}

double scale_of_spread(const SpreadPrior& prior, double scaled_spread, double spread, int64_t classes) {
  const auto n = static_cast<double>(classes);
  const double pairs = spread > 0 ? n * (n - 1) / 2 : 0, weight = pairs / (pairs + prior.pairs);
  const double found = spread > 0 ? std::log(spread) : 0;
  return scaled_spread / std::exp(weight * found + (1 - weight) * std::log(prior.usual));
}

double scale_of_one(double spread, int64_t classes, double dims) {
  const double scale = scale_of_spread(kOwnSpread, kScaledSpreadOfOne, spread, classes);
  const double few = std::log(kManyDims / std::clamp(dims, kFewDims, kManyDims)) / std::log(kManyDims / kFewDims);
  return few > 0 ? std::pow(scale, 1 - few) * std::pow(kScaleOfFewDims, few) : scale;
}

double scale_of_few(const ScaledLoss& left_out, double images, double spread, int64_t classes) {
  constexpr double kHalves = 2, kPairs = 3;
  if (!(left_out.spread > 0)) return left_out.scale;
  const bool halves = images <= kHalves;
  const double scaled = (halves ? kGrowthFromHalves : kGrowthFromThirds) * left_out.scale * left_out.spread;
  const double expected = (halves ? 1 : kGrowthFromThirds) * left_out.spread;
  return scale_of_spread({expected, kPairs}, scaled, spread, classes);
}

}  // namespace protocom
