#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fewshot/plda/detail/class_rows.h"
#include "fewshot/plda/detail/probability_scale.h"

namespace protocom {

/// The labelled images of some classes, and the images of the others.
struct ClassFold {
  ClassRows kept;
  DoubleMatrix left_out;  // [k, e]
};

/// Returns up to five folds of classes, by the squared distances of their means from the center of the means: an order
/// that neither a rotation nor the order of images or classes changes. Only one fold if there are enough classes to
/// estimate a spread.
std::vector<ClassFold> class_folds(const ClassRows& rows);

/// Images left out of a space that is made from those kept.
struct LeftOutFold {
  ImageFold images;
  std::vector<int64_t> asked;  // those of the left-out images that are scored, ascending
};

/// Which images are left out: all once, or enough of them.
enum class LeftOut { kAll, kEnough };

/// Images left out in folds (image_folds), each scored in a space made from the others. Leaving out a single image
/// would not do: its class would have a worse mean than the others.
class LeftOutFolds {
 public:
  /// `least`: fewest images of a class from which some are left out.
  LeftOutFolds(const ClassRows& rows, int64_t least, LeftOut which);

  [[nodiscard]] const std::vector<LeftOutFold>& folds() const { return folds_; }
  /// Returns the scale that turns log predictives into probabilities, where `scores` are those of a fold's images
  /// [asked, n]. The losses are in the order of the images. Nothing if no image is left out.
  [[nodiscard]] std::optional<ScaledLoss> scale(const std::function<DoubleMatrix(size_t fold)>& scores,
                                                const ScalePrior& prior = {}) const;

 private:
  [[nodiscard]] std::vector<double> distances() const;

  const ClassRows& rows_;
  std::vector<LeftOutFold> folds_;
};

}  // namespace protocom
