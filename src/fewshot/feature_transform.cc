#include "fewshot/feature_transform.h"

#include "fewshot/row_length.h"

namespace protocom {

FloatMatrix padded_rows(const FeatureRows& features, const FeatureTransform* space) {
  const int64_t width = width_after(space, features.cols());
  FloatMatrix rows(features.rows(), padded_length(width));
  rows.rightCols(rows.cols() - width).setZero();
  if (space == nullptr)
    rows.leftCols(width) = features;
  else
    space->map(features, rows.leftCols(width));
  return rows;
}

}  // namespace protocom
