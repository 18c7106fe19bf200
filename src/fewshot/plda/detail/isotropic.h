#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// S0 and the between-class covariance of z as multiples of I, of a space that was not fitted.
struct Isotropic {
  double within = 1;
  double between = 1;  ///< in units of `within`
};

/// What labelled images say of the two, in sums over dimensions.
struct IsotropicSums {
  double within = 0;   ///< of squared differences from the class means
  double between = 0;  ///< variance of the class means, unbiased; 0 for one class
  double images = 0;
  double classes = 0;
  double error = 0;  ///< mean over the classes of 1 / images of the class
  double dims = 0;
};
/// Per dimension: within = sums.within / (images - classes), between = (variance of the class means) / within - error,
/// but at least .05. A single class counts as if means had the variance 1 over all dimensions together. Where images of
/// a class do not differ, `between` is as large as `within`.
Isotropic isotropic_variances(const IsotropicSums& sums);

/// The share of the way from the fitted center to that of the classes at hand.
double center_share(const PldaAdaptation& adaptation, int64_t classes);

/// The same if nothing was fitted, from zero. None if images are answered one by one and their features are taken
/// by their roots: none is negative, so zero is a center of theirs already. A batch is better with one
/// (docs/log/plda.md).
double isotropic_center_share(const PldaAdaptation& adaptation, int64_t classes, bool root);

/// The degrees of S0 if nothing was fitted, in `dims` dimensions. Where each class has one image and images are
/// answered one by one they grow with the classes: what class means add to S0 is scatter between classes too, so its
/// share is bounded, however many they are (docs/log/plda.md). A requested value is used as it is.
double isotropic_degrees(const PldaAdaptation& adaptation, double dims, int64_t images, int64_t classes);

/// What a row of the class means' scatter counts as in that of images within classes. Class means differ by what the
/// classes differ by, too, and with several images of a class the images themselves tell how those of one class differ
/// (docs/log/plda.md). 1 if each class has one image, and in batches. A requested value is used as it is.
double class_mean_weight(const PldaAdaptation& adaptation, int64_t images, int64_t classes);

/// The degrees of S0 that images left out prefer, and their losses: `usual`, or 3, 3/10 or 1/10 times that where the
/// loss is surely less. Encoders whose classes are far apart (MobileNet v2, ResNet12) gain up to two points by more,
/// one that was trained on classes of the same kind up to four by less, from some ten images per class on. Smaller
/// degrees are tried as long as the loss falls. `answers`: the losses at this many degrees; nothing if no image is
/// left out.
struct ChosenDegrees {
  double degrees = 0;
  std::optional<ScaledLoss> left_out;
};
ChosenDegrees choose_isotropic_degrees(double usual,
                                       const std::function<std::optional<ScaledLoss>(double degrees)>& answers);

/// A class with fewer images than this keeps all of them when a scale is looked for.
inline constexpr int64_t kFewestOfFolds = 3;

/// The fewest images of a class of which some are left out to choose nu: two if no class, of at most `largest`
/// images, has three. The halves then have no scatter within classes, but class means tell the same of nu
/// (docs/log/plda.md).
inline int64_t fewest_of_folds(int64_t largest) { return largest == 2 ? 2 : kFewestOfFolds; }

/// What is believed of the scale of log predictives of images left out of classes of `fewest` images: in halves below
/// kFewestOfFolds, else in folds.
ScalePrior scale_prior(int64_t fewest);

/// What a spread of scores among few classes is shrunk towards, and how many pairs of classes that counts as. Of p
/// pairs the spread's logarithm has a variance of about 1 / p.
struct SpreadPrior {
  double usual = 1;
  double pairs = 1;
};
/// In fitted spaces: the middle of the encoders and data sets that kScaledSpreadInSpace was found with.
inline constexpr SpreadPrior kSpaceSpread{7.5, 3};

/// Scale times spread in a fitted space where each class has one image (docs/methods/plda-own-photos.md).
inline constexpr double kScaledSpreadInSpace = 1.5;

/// The scale of log predictives: `scaled_spread` by their spread (spread_of_scores) among this many classes; the
/// fewer they are, the more `prior` counts; 0: too few to estimate it.
double scale_of_spread(const SpreadPrior& prior, double scaled_spread, double spread, int64_t classes);

/// The same without a space, of one image per class, none of which can be left out. In fewer than 64 dimensions, which
/// encoders' features have, it tends to a constant.
double scale_of_one(double spread, int64_t classes, double dims);

/// The same of two or three images per class by the scale and the spread of images left out, whose spaces are unlike
/// that of all of them. Two classes give no spread: then it is the scale of held-out images.
double scale_of_few(const ScaledLoss& left_out, double images, double spread, int64_t classes);

}  // namespace protocom
