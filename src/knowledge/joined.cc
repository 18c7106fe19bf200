#include "knowledge/detail/joined.h"

#include "base/matrix.h"

namespace protocom {

Array beside(const Array& left, const Array& right) {
  Array joined = Array::uninitialised({left.size(0), left.size(1) + right.size(1)});
  auto rows = mutable_matrix_of<float>(joined);
  rows.leftCols(left.size(1)) = matrix_of<float>(left);
  rows.rightCols(right.size(1)) = matrix_of<float>(right);
  return joined;
}

}  // namespace protocom
