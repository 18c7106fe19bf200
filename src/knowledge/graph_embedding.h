#pragma once
#include <cstdint>

#include "base/array.h"

namespace protocom {

/// Places the columns of a class x (attribute | context) matrix in a space of at most `dim` dimensions, by the
/// truncated singular value decomposition A ~ U S V' of `association` [c, m]: column j of A at (V sqrt(S))_j, row i at
/// (U sqrt(S))_i, so that the dot product of a class and an attribute approximates the weight between them, exactly if
/// nothing was truncated. Returns V sqrt(S), float32 [m, e], whose columns are orthogonal, with squared norms S,
/// descending; e = min(dim, rank of A), at least 1: an all-zero matrix gives one dimension of zeros. Signs are fixed
/// (the largest entry of each column of V is positive), so the same matrix gives the same embedding. Computed in
/// float64. Throws UsageError for dim < 1.
Array embed_graph(const Array& association, int64_t dim);

/// Places rows in the space of `columns` [m, e] (see embed_graph): rows A S^-1 (V sqrt(S)) = rows V / sqrt(S). The rows
/// that the space was made from are placed at U sqrt(S), new rows by the same rule. rows: [n, m]; returns float32
/// [n, e].
Array place_rows(const Array& columns, const Array& rows);

}  // namespace protocom
