#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// S0 and the between-class covariance of z as multiples of I, for a space that was not fitted.
struct Isotropic {
  double within = 1;
  double between = 1;  ///< in units of `within`
};

/// Statistics of labelled images for estimating the two, summed over dimensions.
struct IsotropicSums {
  double within = 0;   ///< squared differences from the class means
  double between = 0;  ///< variance of the class means, unbiased; 0 for one class
  double images = 0;
  double classes = 0;
  double error = 0;  ///< mean over the classes of 1 / number of images
  double dims = 0;
};
/// Estimates per dimension: within = sums.within / (images - classes), between = (variance of the class means) / within
/// - error, but at least .05. A single class counts as if means had variance 1 over all dimensions together. If images
/// of a class do not differ, `between` is as large as `within`.
Isotropic isotropic_variances(const IsotropicSums& sums);

/// Returns how far the center moves from the fitted one to that of the current classes, as a share of the way.
double center_share(const PldaAdaptation& adaptation, int64_t classes);

/// Returns that share if nothing was fitted, starting from zero. 0 if images are answered one by one and their features
/// are replaced by roots: none is negative, so zero already is a center. A batch is better with one (docs/log/plda.md).
double isotropic_center_share(const PldaAdaptation& adaptation, int64_t classes, bool root);

/// Returns the degrees of S0 if nothing was fitted, in `dims` dimensions. If each class has one image and images are
/// answered one by one they grow with the classes: the class means add scatter between classes to S too, so its share
/// is bounded, however many they are (docs/log/plda.md). A requested value is used unchanged.
double isotropic_degrees(const PldaAdaptation& adaptation, double dims, int64_t images, int64_t classes);

/// Returns the weight of a row of the class means' scatter in that of images within classes. Class means also differ
/// because the classes do, and with several images per class the images themselves show how those of one class differ
/// (docs/log/plda.md). 1 if each class has one image, and in batches. A requested value is used unchanged.
double class_mean_weight(const PldaAdaptation& adaptation, int64_t images, int64_t classes);

/// The degrees of S0 preferred by held-out images, and their losses: `usual`, or 3, 3/10 or 1/10 times that if the loss
/// is surely less. Encoders whose classes are far apart (MobileNet v2, ResNet12) gain up to two points with more, one
/// that was trained on classes of the same kind up to four with less, from some ten images per class on. Smaller
/// degrees are tried as long as the loss falls. `answers`: the losses for this many degrees; nothing if no image is
/// left out.
struct ChosenDegrees {
  double degrees = 0;
  std::optional<ScaledLoss> left_out;
};
ChosenDegrees choose_isotropic_degrees(double usual,
                                       const std::function<std::optional<ScaledLoss>(double degrees)>& answers);

/// Classes with fewer images than this keep all of them when a scale is estimated.
inline constexpr int64_t kFewestOfFolds = 3;

/// Returns the fewest images of a class from which some are left out to choose nu: two if no class, of at most
/// `largest` images, has three. The halves then have no scatter within classes, but class means give the same nu
/// (docs/log/plda.md).
inline int64_t fewest_of_folds(int64_t largest) { return largest == 2 ? 2 : kFewestOfFolds; }

/// Returns the prior of the scale of log predictives of images left out of classes of `fewest` images: in halves below
/// kFewestOfFolds, else in folds.
ScalePrior scale_prior(int64_t fewest);

/// The value towards which a spread of scores among few classes is shrunk, and the number of pairs of classes that it
/// counts as. With p pairs the logarithm of the spread has a variance of about 1 / p.
struct SpreadPrior {
  double usual = 1;
  double pairs = 1;
};
/// For fitted spaces: the average over the encoders and data sets that kScaledSpreadInSpace was found with.
inline constexpr SpreadPrior kSpaceSpread{7.5, 3};

/// Scale times spread in a fitted space if each class has one image (docs/methods/plda-own-photos.md).
inline constexpr double kScaledSpreadInSpace = 1.5;

/// Returns the scale of log predictives: `scaled_spread` over their spread (spread_of_scores) among this many classes;
/// the fewer they are, the more `prior` counts; 0: too few to estimate it.
double scale_of_spread(const SpreadPrior& prior, double scaled_spread, double spread, int64_t classes);

/// Returns the scale without a fitted space for one image per class, where none can be left out. In fewer than 64
/// dimensions, unlike encoders' features, it tends to a constant.
double scale_of_one(double spread, int64_t classes, double dims);

/// Returns the scale for two or three images per class from the scale and the spread of left-out images, whose spaces
/// differ from that of all of them. Two classes give no spread: then it is the scale of held-out images.
double scale_of_few(const ScaledLoss& left_out, double images, double spread, int64_t classes);

}  // namespace protocom
