#pragma once
#include "base/matrix.h"

namespace protocom {

/// An orthonormal basis [d, d] of which the first r columns are `columns` [d, r], r <= d, made orthonormal one after
/// the other where they are not; for one that depends on those before it another direction stands.
DoubleMatrix complete_basis(const DoubleMatrix& columns);

}  // namespace protocom
