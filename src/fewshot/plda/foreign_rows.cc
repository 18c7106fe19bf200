#include "fewshot/plda/detail/foreign_rows.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/detail/row_length.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

Floats padded_floats(const at::Tensor& values) {
  const at::Tensor row = padded_row(values);
  return {row.data_ptr<float>(), row.data_ptr<float>() + row.numel()};
}

}  // namespace

ForeignRows::ForeignRows(const PldaSpace& space) : space_(space) {
  for (at::Tensor* part : {&space_.center, &space_.projection, &space_.offset, &space_.between})
    *part = part->to(at::kFloat).contiguous();
  offset_ = padded_floats(space_.offset);
  between_ = padded_floats(space_.between);
}

int64_t ForeignRows::last() const { return first() + padded_length(feature_dims()); }

int64_t ForeignRows::width() const { return last() + kRowMultiple; }

at::Tensor ForeignRows::map(const at::Tensor& features) const {
  if (features.size(-1) != feature_dims())
    fail("features of {} numbers, the space is of {}", features.size(-1), feature_dims());
  const at::Tensor x = space_.rooted(features) - space_.center;
  return at::cat({padded_row(at::matmul(x, space_.projection)), padded_row(x), padded_row(x.square().sum(-1, true))},
                 -1);
}

bool ForeignRows::same_as(const FeatureTransform& other) const {
  const auto* rows = dynamic_cast<const ForeignRows*>(&other);
  return rows != nullptr && rows->space_.root == space_.root && rows->space_.center.equal(space_.center) &&
         rows->space_.projection.equal(space_.projection) && rows->offset_ == offset_ && rows->between_ == between_;
}

}  // namespace protocom
