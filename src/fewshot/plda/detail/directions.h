#pragma once
#include <cmath>

#include "base/matrix.h"

namespace protocom {

/// Returns sign(x) sqrt |x|.
template <typename Number>
Number signed_root(Number x) {
  return std::copysign(std::sqrt(std::abs(x)), x);
}

/// Replaces features by their signed square roots. For floats without negative values, results differ in the last bit
/// from those of rows with some.
template <typename Matrix>
void take_roots(Matrix& features) {
  if (features.size() > 0 && features.minCoeff() >= 0) {
    features = features.cwiseSqrt();  // vectorised, unlike the version with signs
  } else {
    features = features.unaryExpr(&signed_root<typename Matrix::Scalar>);
  }
}

/// Maps features [m, d] to directions, z = (x - center) / |x - center| with center [1, d]; lengths below 1e-12 are
/// replaced by that, so that zero stays zero.
template <typename Matrix, typename Row>
void take_directions(Matrix& features, const Row& center) {
  features.rowwise() -= center;
  scale_to_unit_rows(features);
}

}  // namespace protocom
