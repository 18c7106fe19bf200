#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The scale of log densities around which another has to prove itself.
inline constexpr double kDefaultScale = 0.1;

/// The logarithm of a product of numbers from 1 on.
double log_of_product(const std::vector<double>& numbers);

/// Losses at the most likely scale.
struct ScaledLoss {
  std::vector<double> loss;  ///< -log p(label) of each row
  double scale = 1;          ///< of log densities, that makes probabilities of them
};

/// The scale of log densities [m, classes] under which the labels [m] are likely, with a wide prior around
/// kDefaultScale. Throws Error for densities that are no numbers, as a damaged model gives.
ScaledLoss most_likely_scale(const std::vector<double>& logs, const std::vector<int64_t>& labels, int64_t classes);

/// Whether the mean of `loss` is less than that of another, of the same images, by more than its standard error.
bool surely_less(const std::vector<double>& loss, const std::vector<double>& than);

/// Which images a fold keeps and leaves out.
struct ImageFold {
  std::vector<int64_t> kept, left_out;
};

/// Five folds, or as many as the largest class has images: a fifth of each class with at least `least` images is left
/// out, each fold some near the class's mean and some far from it, by the squared distances [m] of images from it: an
/// order that neither a rotation of features nor the images' order changes. Labels [m] in [0, classes). None where no
/// class has `least` images.
std::vector<ImageFold> image_folds(const std::vector<double>& distances, const std::vector<int64_t>& labels,
                                   int64_t classes, int64_t least);

}  // namespace protocom
