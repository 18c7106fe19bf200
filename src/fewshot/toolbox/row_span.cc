#include "fewshot/toolbox/detail/row_span.h"

#include <algorithm>

#include "fewshot/row_kernels.h"

namespace protocom {

void RowSpan::place(const std::vector<const float*>& rows, int64_t dim) {
  rows_ = rows;
  points_ = static_cast<int64_t>(rows.size());
  dim_ = dim;
  stride_ = padded_length(points_);
  // Otherwise the products of all pairs would be more numbers, and slower, than going through the dimensions.
  has_gram_ = points_ <= 2 * dim;
  squares_.assign(static_cast<size_t>(stride_), 0.0F);
  if (has_gram_) compute_gram();
  for (int64_t i = 0; i < points_; ++i) {
    const float* own = rows_[static_cast<size_t>(i)];
    squares_[static_cast<size_t>(i)] = has_gram_ ? gram_[static_cast<size_t>(i * stride_ + i)] : row_dot(own, own, dim);
  }
}

void RowSpan::compute_gram() {
  gram_.resize(static_cast<size_t>(points_ * stride_));
  for (int64_t i = 0; i < points_; ++i) std::fill_n(gram_.data() + i * stride_ + points_, stride_ - points_, 0.0F);
  gram_of_rows({rows_.data(), points_, dim_, stride_}, gram_.data());
  const int64_t panels = (stride_ + kPanelWidth - 1) / kPanelWidth;
  panels_.resize(static_cast<size_t>(panels * points_ * kPanelWidth));
  for (int64_t j = 0; j < stride_; j += kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, stride_ - j);
    float* panel = panels_.data() + j * points_;
    for (int64_t i = 0; i < points_; ++i) std::copy_n(gram_.data() + i * stride_ + j, width, panel + i * kPanelWidth);
  }
  zeros_.assign(static_cast<size_t>(stride_), 0.0F);
}

const float* RowSpan::inner(int64_t point) {
  if (has_gram_) return gram_.data() + point * stride_;
  inner_.assign(static_cast<size_t>(stride_), 0.0F);
  products_of_rows({rows_.data() + point, 1, rows_.data(), points_, dim_, stride_}, inner_.data());
  return inner_.data();
}

void RowSpan::compute_products(const float* coefficients, int64_t n, float* out) {
  if (has_gram_) return dense_rows({coefficients, stride_, n, points_, panels_.data(), zeros_.data(), stride_}, out);
  vectors_.resize(static_cast<size_t>(n * dim_));
  sums_of_rows({rows_.data(), points_, coefficients, n, stride_, dim_}, vectors_.data());
  std::vector<const float*> combinations;
  for (int64_t k = 0; k < n; ++k) {
    combinations.push_back(vectors_.data() + k * dim_);
    std::fill_n(out + k * stride_ + points_, stride_ - points_, 0.0F);
  }
  products_of_rows({combinations.data(), n, rows_.data(), points_, dim_, stride_}, out);
}

void RowSpan::compute_distances(const float* coefficients, int64_t n, float* out) {
  compute_products(coefficients, n, out);
  for (int64_t k = 0; k < n; ++k) {
    float* own = out + k * stride_;
    const float length = row_dot(coefficients + k * stride_, own, stride_);
    for (int64_t i = 0; i < stride_; ++i)
      own[i] = std::max(squares_[static_cast<size_t>(i)] + length - 2 * own[i], 0.0F);
  }
}

}  // namespace protocom
