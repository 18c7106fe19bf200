#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The middle of the prior of the scale of log densities, which images can move.
inline constexpr double kDefaultScale = 0.1;

/// The logarithm of a product of numbers from 1 on.
double log_of_product(const std::vector<double>& numbers);

/// What is believed of the scale before images are left out: its logarithm is Gaussian. Log densities of classes that
/// an image is not of lie apart by their spread, however many dimensions count and whatever was whitened, so scale
/// times spread varies far less between encoders than the scale does (docs/methods/plda-own-photos.md).
struct ScalePrior {
  double scaled_spread = 0;  ///< its middle is this over the spread; 0: kDefaultScale
  double deviation = 1;      ///< of the logarithm
};

/// Losses at the most likely scale.
struct ScaledLoss {
  std::vector<double> loss;  ///< -log p(label) of each row
  double scale = 1;          ///< of log densities, that makes probabilities of them
  double spread = 0;         ///< ScoreSpread of the classes that the rows are not of; 0: none was requested
};

/// The scale of log densities [m, classes] under which the labels [m] are likely. Throws Error for densities that are
/// no numbers, as a damaged model gives.
ScaledLoss most_likely_scale(const std::vector<double>& logs, const std::vector<int64_t>& labels, int64_t classes,
                             const ScalePrior& prior = {});

/// The root of the mean of rows' unbiased variances.
class ScoreSpread {
 public:
  /// A row of `count` log densities but for the one at `but`, if that is one of them.
  void add(const double* row, int64_t count, int64_t but = -1);
  /// 0 if no row had two.
  [[nodiscard]] double value() const;

 private:
  double variances_ = 0, rows_ = 0;
};

/// Whether the mean of `loss` is less than that of another, of the same images, by more than its standard error.
bool surely_less(const std::vector<double>& loss, const std::vector<double>& than);

/// Which images a fold keeps and leaves out.
struct ImageFold {
  std::vector<int64_t> kept, left_out;
};

/// Five folds, or as many as the largest class has images: a fifth of each class with at least `least` images is left
/// out, each fold some near the class's mean and some far from it, by the squared distances [m] of images from it: an
/// order that neither a rotation of features nor the order of images or classes changes. Where one fold leaves out the
/// nearest image of a class, it leaves out another of the next class: if all of one fold were near, and of another far,
/// their spaces would be none of the classes'. Labels [m] in [0, classes). None if no
/// class has `least` images.
std::vector<ImageFold> image_folds(const std::vector<double>& distances, const std::vector<int64_t>& labels,
                                   int64_t classes, int64_t least);

}  // namespace protocom
