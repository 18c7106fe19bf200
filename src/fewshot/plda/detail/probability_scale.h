#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
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

/// The same of tensors, float64 [m, c] and int64 [m].
ScaledLoss most_likely_scale(const at::Tensor& logs, const at::Tensor& labels);

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

/// Images in a space in which those of a class are distributed like N(mu, I) and class means like N(0, diag(between)).
struct FoldRows {
  at::Tensor kept;      ///< [k, e], what the space was made of
  at::Tensor left_out;  ///< [l, e]
  at::Tensor between;   ///< [e]
};

/// A space made of some of the images, by their numbers: int64 [k] and [l].
using FoldSpace = std::function<FoldRows(const at::Tensor& kept, const at::Tensor& left_out)>;

/// The scale that makes probabilities of log predictives, by cross-validation in image_folds(): the space is made anew
/// of the images kept, and those left out are answered. Leaving out one image alone would not do: its class would have
/// a worse mean than the others. Rows [m, e], by whose distances from class means (of a class of two, from the mean of
/// those) images come into folds; labels int64 [m] in [0, classes). The losses are in the order of the images. Nothing
/// where no class has `least` images.
std::optional<ScaledLoss> scale_by_folds(const at::Tensor& rows, const at::Tensor& labels, int64_t classes,
                                         int64_t least, const FoldSpace& space);

}  // namespace protocom
