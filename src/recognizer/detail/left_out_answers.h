#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "recognizer/class_scorer.h"

namespace protocom {

/// Leave-one-out probabilities of enrolled images, whose moments are left out together.
struct LeftOutAnswers {
  DoubleMatrix probabilities;                ///< [m, c], given that an image is of one of the classes
  std::vector<int64_t> classes = {};         ///< [m], of each
  std::vector<std::vector<int64_t>> images;  ///< [m], those of the moment, rows of the class; the first was asked about

  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(classes.size()); }
  /// Of the class that image i lies in.
  [[nodiscard]] double own(int64_t i) const { return probabilities(i, classes[static_cast<size_t>(i)]); }
  /// The most probable class of image i.
  [[nodiscard]] int64_t best(int64_t i) const {
    int64_t best = 0;
    probabilities.row(i).maxCoeff(&best);
    return best;
  }
};

/// Leaves each moment (moments.h) of each class out that keeps as many as the method needs: one of each class at a
/// time, or a tenth of it where it has more than ten. `factor`: of the logits, before the softmax.
LeftOutAnswers leave_moments_out(const ClassScorer& scorer, double factor, Progress& progress);

}  // namespace protocom
