#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "recognizer/class_scorer.h"

namespace protocom {

/// Leave-one-out probabilities of enrolled images, whose moments are left out together.
struct LeftOutAnswers {
  DoubleMatrix probabilities;         ///< [m, c], given that an image is of one of the classes
  std::vector<int64_t> classes = {};  ///< class of each, [m]
  std::vector<std::vector<int64_t>>
      images;  ///< [m], rows of the moment's images in the class; the first was classified

  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(classes.size()); }
  /// Probability of image i's own class.
  [[nodiscard]] double own(int64_t i) const { return probabilities(i, classes[static_cast<size_t>(i)]); }
  /// The most probable class of image i.
  [[nodiscard]] int64_t best(int64_t i) const {
    int64_t best = 0;
    probabilities.row(i).maxCoeff(&best);
    return best;
  }
};

/// Leaves out each moment (moments.h) of each class that keeps as many as the method needs: one of each class at a
/// time, or a tenth of the class if it has more than ten. `factor`: of the logits, before the softmax.
LeftOutAnswers leave_moments_out(const ClassScorer& scorer, double factor, Progress& progress);

}  // namespace protocom
