#pragma once
#include <vector>

#include "base/matrix.h"
#include "datasets/feature_set.h"

namespace protocom {

/// The true centres of some classes: the means of all their features, summed in float64.
class ClassCentres {
 public:
  /// `features` must outlive it.
  ClassCentres(const FeatureSet& features, std::vector<int64_t> classes);

  /// Finds them, if they have not been found: before cosines(), and only where they are needed, as this reads all
  /// features.
  void find();
  /// The mean cosine of each episode's prototypes float32 [b, n, d] to the centres of its classes [b * n], into
  /// cosine[0 .. b).
  void cosines(const Array& prototypes, const std::vector<int64_t>& classes, double* cosine) const;

 private:
  const FeatureSet& features_;
  std::vector<int64_t> classes_;
  FloatMatrix unit_;  // [all classes, d], of length 1; empty: not found yet
};

}  // namespace protocom
