#pragma once
#include "base/matrix.h"

namespace protocom {

/// Returns coordinates [m, u] of points [m, d], whitened within the span of the first u of them, which a task learns
/// from (Hu, Pateux, Gripon: BAVARDAGE, 2023): with U an orthonormal base of the span and S the scatter, the axes are
/// the eigenvectors of (U' S^-1 U)^-1, and each factor is its eigenvalue^-1/2 but at most `most`. `white` [m, d] are
/// the points times W with W W' = S^-1. Without a limit all inner products of the u points are those of their rows in
/// `white`.
DoubleMatrix whitened_in_span(const DoubleMatrix& points, const DoubleMatrix& white, int64_t u, double most);

}  // namespace protocom
