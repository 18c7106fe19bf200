#pragma once
#include <cstdint>

#include "base/matrix.h"

namespace protocom {

/// Products of a few rows with very many others. The many are read from memory for each query, which is the whole cost,
/// so one byte per number takes a quarter of the time of a float. The best of each row are computed again from the
/// floats; the others keep an error of about 0.2 % of the product of the lengths over the square root of the dimension,
/// which matters little: single ones are not needed and their sum hardly changes.

/// From this many rows on bytes pay off: fewer stay in a cache as floats.
inline constexpr int64_t kFewestCoarse = 16384;
/// Number of exact products per row: those that seem largest.
inline constexpr int64_t kExactProducts = 128;

/// Rows as integers from -127 to 127 times a step of each row.
struct CoarseRows {
  Array codes;  ///< int8 [n, d], d a multiple of kRowMultiple
  Array steps;  ///< float32 [n]
};

/// Quantizes rows [n, d], d a multiple of kRowMultiple.
CoarseRows coarse_rows(const FloatMatrix& rows);

/// Very many rows in both forms.
struct ManyRows {
  Array exact;         ///< float32 [n, w], w a multiple of kRowMultiple
  CoarseRows coarse;   ///< of d numbers of each row, which may be only part of it
  Array offsets = {};  ///< float32 [n], contribution of the other part to a product; undefined: none
};

/// Returns the products [q, n] of rows [q, w] with very many; `part` [q, d] is multiplied with the coarse rows. Does
/// not depend on the number of threads.
FloatMatrix products_with_many(const FloatMatrix& rows, const FloatMatrix& part, const ManyRows& many);

}  // namespace protocom
