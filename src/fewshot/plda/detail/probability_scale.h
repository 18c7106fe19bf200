#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The center of the prior of the scale of log densities, which images can shift.
inline constexpr double kDefaultScale = 0.1;

/// Returns the logarithm of a product of numbers that are at least 1.
double log_of_product(const std::vector<double>& numbers);

/// The prior of the scale before images are left out: its logarithm is Gaussian. Log densities for classes other than
/// the image's own differ by their spread, however many dimensions count and whatever was whitened, so scale times
/// spread varies far less between encoders than the scale does (docs/methods/plda-own-photos.md).
struct ScalePrior {
  double scaled_spread = 0;  ///< its center is this over the spread; 0: kDefaultScale
  double deviation = 1;      ///< standard deviation of the logarithm
};

/// Losses at the most likely scale.
struct ScaledLoss {
  std::vector<double> loss;  ///< -log p(label) of each row
  double scale = 1;          ///< of log densities, giving probabilities
  double spread = 0;         ///< ScoreSpread of the classes other than the rows' own; 0: none was requested
};

/// Returns the scale of log densities [m, classes] that makes the labels [m] most likely. Throws Error for densities
/// that are not numbers, as from a damaged model.
ScaledLoss most_likely_scale(const std::vector<double>& logs, const std::vector<int64_t>& labels, int64_t classes,
                             const ScalePrior& prior = {});

/// Accumulates the square root of the mean of rows' unbiased variances.
class ScoreSpread {
 public:
  /// Adds a row of `count` log densities, without the one at `but`, if that is one of them.
  void add(const double* row, int64_t count, int64_t but = -1);
  /// Returns the spread; 0 if no row had two values.
  [[nodiscard]] double value() const;

 private:
  double variances_ = 0, rows_ = 0;
};

/// Whether the mean of `loss` is less than that of another, for the same images, by more than its standard error.
bool surely_less(const std::vector<double>& loss, const std::vector<double>& than);

/// Which images a fold keeps and leaves out.
struct ImageFold {
  std::vector<int64_t> kept, left_out;
};

/// Makes five folds, or as many as the largest class has images: a fifth of each class with at least `least` images is
/// left out. Each fold has some images near the class's mean and some far from it, by their squared distances [m]: an
/// order that neither a rotation of features nor the order of images or classes changes. If a fold leaves out the
/// nearest image of one class, it leaves out another rank of the next class: if all images of one fold were near and
/// all of another far, their spaces would not be typical. Labels [m] in [0, classes). None if no class has `least`
/// images.
std::vector<ImageFold> image_folds(const std::vector<double>& distances, const std::vector<int64_t>& labels,
                                   int64_t classes, int64_t least);

}  // namespace protocom
