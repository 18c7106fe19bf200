#pragma once
#include <ATen/core/Tensor.h>

#include "base/matrix.h"

namespace protocom {

/// An orthonormal basis [d, d] of which the first r columns span those of `columns`, float64 [d, r], r <= d; they are
/// those columns up to signs where these are orthonormal. The basis is the product of r Householder reflections,
/// I - V T V' (Schreiber and Van Loan 1989), by matrix products: LAPACK multiplies fewer than some 128 of them out one
/// after the other, which takes three times as long at d = 512 and r = 24 (one core of an AMD EPYC, OpenBLAS).
at::Tensor complete_basis(const at::Tensor& columns);

/// An orthonormal basis [d, d] of which the first r columns are `columns` [d, r], orthonormal.
DoubleMatrix complete_basis(const DoubleMatrix& columns);

}  // namespace protocom
