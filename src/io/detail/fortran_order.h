#pragma once
#include <algorithm>

#include "base/array.h"

namespace protocom {

/// Copies numbers of `shape` from column-major order (Fortran, MATLAB) to row-major order at `to`. At least one
/// dimension.
template <typename Number>
void to_c_order(const Number* from, const Shape& shape, Number* to) {
  constexpr int64_t kBlock = 32;  // rows filled together, so that each read of a column is contiguous
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  const int64_t rows = shape[0], width = strides[0];
  if (width == 0) return;
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t end = std::min(rows, first + kBlock);
    Shape index(shape.size(), 0);
    int64_t place = 0;  // of the index in a row of the result
    for (int64_t column = 0; column < width; ++column) {
      for (int64_t row = first; row < end; ++row) to[row * width + place] = from[column * rows + row];
      for (size_t i = 1; i < shape.size(); ++i) {
        place += strides[i];
        if (++index[i] < shape[i]) break;
        place -= strides[i] * shape[i];
        index[i] = 0;
      }
    }
  }
}

}  // namespace protocom
