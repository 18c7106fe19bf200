#pragma once
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Returns the products [q, n] of rows [q, dim] with many others float32 [n, dim] by row_kernels.h, dim a multiple of
/// kRowMultiple. BLAS packs both sides into panels, which costs more than the products when one side has few rows.
/// Threads share the others if there are thousands; every product is the same to the last bit on any number of threads.
FloatMatrix row_products(const FloatMatrix& rows, const Array& others);

/// Returns pointers to the rows of a matrix.
std::vector<const float*> pointers_to(const FloatMatrix& rows);

}  // namespace protocom
