#pragma once
#include <cstdint>

#include "fewshot/floats.h"

namespace protocom {

/// Solves entropic optimal transport by Sinkhorn and Knopp: the plan P = diag(r) K diag(s) whose rows sum to 1 and
/// whose columns sum to `columns` [n], at least 0; a column of 0 gets nothing. `kernel` K is stored column by column,
/// [n, stride], stride a multiple of kRowMultiple (row_length.h); rows of zeros are left out. Returns s, [n]: a row of
/// P is a row of K diag(s) over its sum, so s also answers for points outside the plan.
Floats sinkhorn_scales(const Floats& kernel, int64_t stride, const Floats& columns);

/// Returns u / n for each of [n]: the columns of images that are balanced over the classes.
Floats balanced_columns(int64_t u, int64_t n);

}  // namespace protocom
