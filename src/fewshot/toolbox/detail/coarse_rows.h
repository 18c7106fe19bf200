#pragma once
#include <cstdint>

#include "base/matrix.h"

namespace protocom {

/// Products of a few rows with very many others. Those are read from memory for each question, and that is all it
/// costs, so a byte a number takes a quarter of the time of a float. The best of each row are computed again from the
/// floats; what is left to the bytes is off by about 0.2 % of the product of the rows' lengths over the square root of
/// their dimension, which matters to the rows that are not needed and hardly to their sum.

/// From this many rows on it pays: fewer stay in a cache as floats.
inline constexpr int64_t kFewestCoarse = 16384;
/// The number of exact products per row: those that seem largest.
inline constexpr int64_t kExactProducts = 128;

/// Rows as whole numbers of -127 to 127 times a step of each row.
struct CoarseRows {
  Array codes;  ///< int8 [n, d], d a multiple of kRowMultiple
  Array steps;  ///< float32 [n]
};

/// Of rows [n, d], d a multiple of kRowMultiple.
CoarseRows coarse_rows(const FloatMatrix& rows);

/// Very many rows in both forms.
struct ManyRows {
  Array exact;         ///< float32 [n, w], w a multiple of kRowMultiple
  CoarseRows coarse;   ///< of d numbers of each, which may be only part of it
  Array offsets = {};  ///< float32 [n], what the other part adds to a product; undefined: nothing
};

/// Products [q, n] of rows [q, w] with very many; `part` [q, d] is multiplied with the coarse rows. Does
/// not depend on the number of threads.
FloatMatrix products_with_many(const FloatMatrix& rows, const FloatMatrix& part, const ManyRows& many);

}  // namespace protocom
