#include "feature_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "protocom/fewshot/row_kernels.h"

namespace protocom {

float inverse_norm_of(float square) {
  constexpr float kTiny = 1e-12F;
  return 1.0F / std::max(std::sqrt(square), kTiny);
}

FeatureRows::FeatureRows(const FeatureSet& features, const std::vector<int64_t>& classes)
    : dim_(padded_length(features.dim())),
      padded_(features.dim() == dim_ ? features.features.contiguous()
                                     : at::constant_pad_nd(features.features, {0, dim_ - features.dim()})),
      rows_(padded_.data_ptr<float>()),
      inverse_norm_(static_cast<size_t>(features.size())),
      centres_(features.class_names.size() * static_cast<size_t>(dim_)),
      inverse_centre_norm_(features.class_names.size()) {
  const auto rows = features.rows_by_class();
  at::parallel_for(0, static_cast<int64_t>(classes.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t label = classes[static_cast<size_t>(i)];
      summarise(rows[static_cast<size_t>(label)], label);
    }
  });
}

void FeatureRows::summarise(const std::vector<int64_t>& rows, int64_t label) {
  std::vector<double> sum(static_cast<size_t>(dim_));
  for (const int64_t index : rows) {
    const float* values = row(index);
    for (int64_t d = 0; d < dim_; ++d) sum[static_cast<size_t>(d)] += static_cast<double>(values[d]);
    inverse_norm_[static_cast<size_t>(index)] = inverse_norm_of(row_dot(values, values, dim_));
  }
  float* centre = centres_.data() + label * dim_;
  const double count = std::max<double>(1, static_cast<double>(rows.size()));
  for (int64_t d = 0; d < dim_; ++d) centre[d] = static_cast<float>(sum[static_cast<size_t>(d)] / count);
  inverse_centre_norm_[static_cast<size_t>(label)] = inverse_norm_of(row_dot(centre, centre, dim_));
}

}  // namespace protocom
