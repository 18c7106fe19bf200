#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

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
  /// The mean cosine of each episode's prototypes [b, n, d] to the centres of its classes [b * n], into cosine[0 .. b).
  void cosines(const at::Tensor& prototypes, const std::vector<int64_t>& classes, double* cosine) const;

 private:
  const FeatureSet& features_;
  std::vector<int64_t> classes_;
  at::Tensor unit_;  // [all classes, d], of length 1
};

}  // namespace protocom
