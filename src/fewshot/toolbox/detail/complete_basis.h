#pragma once
#include "base/matrix.h"

namespace protocom {

/// Returns an orthonormal basis [d, d] whose first r columns are `columns` [d, r], r <= d, orthonormalized one after
/// the other if necessary; a column that depends on those before it is replaced by another direction.
DoubleMatrix complete_basis(const DoubleMatrix& columns);

}  // namespace protocom
