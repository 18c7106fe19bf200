#pragma once
#include <vector>

#include "base/matrix.h"
#include "datasets/feature_set.h"

namespace protocom {

/// The true centres of some classes: the means of all their features, summed in float64.
class ClassCentres {
 public:
  /// `features` must outlive the object.
  ClassCentres(const FeatureSet& features, std::vector<int64_t> classes);

  /// Computes the centres, if not yet done. Call it before cosines(), and only if they are needed, since this reads all
  /// features.
  void find();
  /// Computes the mean cosine between each episode's prototypes float32 [b, n, d] and the centres of its classes
  /// [b * n], into cosine[0 .. b).
  void cosines(const Array& prototypes, const std::vector<int64_t>& classes, double* cosine) const;

 private:
  const FeatureSet& features_;
  std::vector<int64_t> classes_;
  FloatMatrix unit_;  // [all classes, d], of length 1; empty: not computed yet
};

}  // namespace protocom
