#include "fewshot/toolbox/detail/row_span.h"

#include <algorithm>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {

void RowSpan::place(const std::vector<const float*>& rows, int64_t dim) {
  points_ = static_cast<int64_t>(rows.size());
  stride_ = padded_length(points_);
  gram_.resize(static_cast<size_t>(points_ * stride_));
  for (int64_t i = 0; i < points_; ++i) std::fill_n(gram_.data() + i * stride_ + points_, stride_ - points_, 0.0F);
  gram_of_rows({rows.data(), points_, dim, stride_}, gram_.data());
  const int64_t panels = (stride_ + kPanelWidth - 1) / kPanelWidth;
  panels_.resize(static_cast<size_t>(panels * points_ * kPanelWidth));
  for (int64_t j = 0; j < stride_; j += kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, stride_ - j);
    float* panel = panels_.data() + j * points_;
    for (int64_t i = 0; i < points_; ++i) std::copy_n(gram_.data() + i * stride_ + j, width, panel + i * kPanelWidth);
  }
  zeros_.assign(static_cast<size_t>(stride_), 0.0F);
  squares_.assign(static_cast<size_t>(stride_), 0.0F);
  for (int64_t i = 0; i < points_; ++i) squares_[static_cast<size_t>(i)] = square(i);
}

void RowSpan::place_products(const float* coefficients, int64_t n, float* out) const {
  dense_rows({coefficients, stride_, n, points_, panels_.data(), zeros_.data(), stride_}, out);
}

void RowSpan::place_distances(const float* coefficients, int64_t n, float* out) const {
  place_products(coefficients, n, out);
  for (int64_t k = 0; k < n; ++k) {
    float* own = out + k * stride_;
    const float length = row_dot(coefficients + k * stride_, own, stride_);
    for (int64_t i = 0; i < stride_; ++i)
      own[i] = std::max(squares_[static_cast<size_t>(i)] + length - 2 * own[i], 0.0F);
  }
}

}  // namespace protocom
