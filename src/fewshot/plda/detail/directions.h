#pragma once
#include <cmath>

#include "base/matrix.h"

namespace protocom {

/// sign(x) sqrt |x|.
template <typename Number>
Number signed_root(Number x) {
  return std::copysign(std::sqrt(std::abs(x)), x);
}

/// Features by their signed roots. Of floats of which none is negative they differ in the last bit from those of rows
/// among which some are.
template <typename Matrix>
void take_roots(Matrix& features) {
  if (features.size() > 0 && features.minCoeff() >= 0) {
    features = features.cwiseSqrt();  // several numbers at once, unlike with signs
  } else {
    features = features.unaryExpr(&signed_root<typename Matrix::Scalar>);
  }
}

/// Features [m, d] as directions, z = (x - center) / |x - center| with center [1, d]; what is shorter than 1e-12 is
/// divided by that, so that zero stays zero.
template <typename Matrix, typename Row>
void take_directions(Matrix& features, const Row& center) {
  features.rowwise() -= center;
  scale_to_unit_rows(features);
}

}  // namespace protocom
