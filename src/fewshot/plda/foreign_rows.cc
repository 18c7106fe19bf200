#include "fewshot/plda/detail/foreign_rows.h"

#include "fewshot/row_length.h"

namespace protocom {

ForeignRows::ForeignRows(const PldaSpace& space) : space_(space) {}

int64_t ForeignRows::first() const { return padded_length(dims()); }

int64_t ForeignRows::last() const { return first() + padded_length(feature_dims()); }

int64_t ForeignRows::width() const { return last() + kRowMultiple; }

void ForeignRows::map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const {
  FloatMatrix x = space_.rooted(features);
  x.rowwise() -= space_.center;
  rows.setZero();
  rows.leftCols(dims()).noalias() = x * space_.projection;
  rows.middleCols(first(), feature_dims()) = x;
  rows.col(last()) = x.rowwise().squaredNorm();
}

bool ForeignRows::same_as(const FeatureTransform& other) const {
  const auto* rows = dynamic_cast<const ForeignRows*>(&other);
  return rows != nullptr && rows->space_ == space_;
}

}  // namespace protocom
