#include "fewshot/plda/detail/foreign_rows.h"

#include "fewshot/detail/row_length.h"
#include "fewshot/plda/detail/matrix_of_tensor.h"

namespace protocom {

ForeignRows::ForeignRows(const PldaSpace& space) : space_(space) {}

int64_t ForeignRows::first() const { return padded_length(dims()); }

int64_t ForeignRows::last() const { return first() + padded_length(feature_dims()); }

int64_t ForeignRows::width() const { return last() + kRowMultiple; }

at::Tensor ForeignRows::map(const at::Tensor& features) const {
  return placed_rows(features, width(), [&](const auto& from, Eigen::Ref<FloatMatrix> rows) {
    FloatMatrix x = space_.rooted(from);
    x.rowwise() -= space_.center;
    rows.setZero();
    rows.leftCols(dims()).noalias() = x * space_.projection;
    rows.middleCols(first(), feature_dims()) = x;
    rows.col(last()) = x.rowwise().squaredNorm();
  });
}

bool ForeignRows::same_as(const FeatureTransform& other) const {
  const auto* rows = dynamic_cast<const ForeignRows*>(&other);
  return rows != nullptr && rows->space_ == space_;
}

}  // namespace protocom
