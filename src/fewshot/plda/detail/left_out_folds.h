#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fewshot/plda/detail/class_rows.h"
#include "fewshot/plda/detail/probability_scale.h"

namespace protocom {

/// The labelled images of some classes, and those of the others.
struct ClassFold {
  ClassRows kept;
  DoubleMatrix left_out;  // [k, e]
};

/// Up to five folds of classes, by the squared distances of their means from the middle: an order that neither a
/// rotation nor the order of images or classes changes. One alone where the classes are many enough to tell a spread.
std::vector<ClassFold> class_folds(const ClassRows& rows);

/// Some images left out of a space that is made of those kept.
struct LeftOutFold {
  ImageFold images;
  std::vector<int64_t> asked;  // of those left out, ascending
};

/// Which images are left out: all once, or as many as suffice.
enum class LeftOut { kAll, kEnough };

/// Images left out in folds (image_folds), each answered in a space made of the others. Leaving out one image alone
/// would not do: its class would have a worse mean than the others.
class LeftOutFolds {
 public:
  /// `least`: images of a class of which some are left out.
  LeftOutFolds(const ClassRows& rows, int64_t least, LeftOut which);

  [[nodiscard]] const std::vector<LeftOutFold>& folds() const { return folds_; }
  /// The scale that makes probabilities of log predictives, where `scores` are those of a fold's images [asked, n]. The
  /// losses are in the order of the images. Nothing if no image is left out.
  [[nodiscard]] std::optional<ScaledLoss> scale(const std::function<DoubleMatrix(size_t fold)>& scores,
                                                const ScalePrior& prior = {}) const;

 private:
  [[nodiscard]] std::vector<double> distances() const;

  const ClassRows& rows_;
  std::vector<LeftOutFold> folds_;
};

}  // namespace protocom
