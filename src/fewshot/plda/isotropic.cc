#include "fewshot/plda/detail/isotropic.h"

#include <algorithm>
#include <cmath>

namespace protocom {
namespace {

/// The least between-class variance of a space that was not fitted, in units of the within-class variance: a few
/// classes may lie closer together by chance.
constexpr double kLeastBetween = 0.05;
/// What it is taken for where no class has two images, so that nothing tells the two apart. CLIP and ResNet features of
/// birds and objects lie between .4 and 1.4.
constexpr double kUnknownBetween = 1;

/// Val classes of CUB-100 and Tiny-ImageNet-100 and ImageNet classes, four encoders, 6 to 200 at once, like .03 to .11
/// best with one image, and .05 to .1 with two (6 to 50 at once).
constexpr double kScaleOfOneImage = 0.05, kScaleOfTwoImages = 0.07;

/// adaptation.degrees are at most so many images per dimension: 1000 was chosen with 512 to 1280 dimensions, and in few
/// would drown the images at hand.
constexpr double kDegreesPerDimension = 2;
/// And at least so many for each class of one image.
constexpr double kDegreesPerLoneImage = 60;

/// Val and base classes of CUB-100 and Tiny-ImageNet-100, ImageNet classes, four encoders: as .2, and no worse than 1
/// anywhere.
constexpr double kClassMeanWeight = 0.4;

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
  const bool alone = images == classes && !adaptation.unlabelled;
  const double least = alone ? kDegreesPerLoneImage * static_cast<double>(classes) : 0;
  return std::min(std::max(adaptation.degrees, least), kDegreesPerDimension * dims);
}

double class_mean_weight(const PldaAdaptation& adaptation, int64_t images, int64_t classes) {
  return images == classes || adaptation.unlabelled ? 1 : kClassMeanWeight;
}

double scale_without_folds(const PldaAdaptation& adaptation, double degrees, int64_t images, int64_t classes) {
  if (images > classes) return kScaleOfTwoImages;
  return kScaleOfOneImage / std::sqrt(std::max(degrees / adaptation.degrees, 1.0));
}

}  // namespace protocom
