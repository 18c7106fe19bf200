#pragma once
#include "base/matrix.h"
#include "fewshot/plda/space.h"

namespace protocom {

/// A PldaSpace in single precision, for mapping tables of features.
struct FloatSpace {
  bool root = false;
  Eigen::RowVectorXf center;  ///< [d]
  FloatMatrix projection;     ///< [d, e]
  Eigen::RowVectorXf offset;  ///< [e]

  explicit FloatSpace(const PldaSpace& space);
  /// Returns features [m, d], or their roots. Throws Error for another d.
  [[nodiscard]] FloatMatrix rooted(const Eigen::Ref<const FloatMatrix>& features) const;
  [[nodiscard]] bool operator==(const FloatSpace& other) const;
};

}  // namespace protocom
