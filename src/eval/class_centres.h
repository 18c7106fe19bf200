#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "protocom/data/feature_set.h"

namespace protocom {

/// The true centres of some classes: the means of all their features, summed in float64.
class ClassCentres {
 public:
  ClassCentres(const FeatureSet& features, const std::vector<int64_t>& classes);

  /// The mean cosine of each episode's prototypes [b, n, d] to the centres of its classes [b * n], into cosine[0 .. b).
  void cosines(const at::Tensor& prototypes, const std::vector<int64_t>& classes, double* cosine) const;

 private:
  at::Tensor unit_;  // [all classes, d], of length 1
};

}  // namespace protocom
