#include "heads/moments.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "heads/detail/expect_tensor.h"

namespace protocom {

at::Tensor Moments::mean() const { return sum / count.clamp_min(1).unsqueeze(1); }

at::Tensor Moments::variance() const {
  const at::Tensor n = count.unsqueeze(1);
  const at::Tensor centred_squares = sum_squares - sum * sum / n.clamp_min(1);
  return at::where(n > 1, centred_squares.clamp_min(0) / (n - 1).clamp_min(1), at::zeros_like(sum));
}

at::Tensor Moments::std() const { return variance().sqrt(); }

Moments class_moments(const at::Tensor& features, const at::Tensor& labels, int64_t groups) {
  if (groups < 0) fail_usage("number of groups: expected at least 0, found {}", groups);
  expect_tensor(features, {"features", features.scalar_type(), {-1, -1}, features.device()});
  expect_tensor(labels, {"labels", at::kLong, {features.size(0)}, features.device()});
  expect_below(labels, groups, "labels");
  const auto options = features.options().dtype(at::kDouble);
  Moments moments{at::zeros({groups}, options), at::zeros({groups, features.size(1)}, options),
                  at::zeros({groups, features.size(1)}, options)};
  constexpr int64_t kRowsAtOnce = 8192;  // bounds the float64 copy
  for (int64_t begin = 0; begin < features.size(0); begin += kRowsAtOnce) {
    const int64_t rows = std::min(kRowsAtOnce, features.size(0) - begin);
    const at::Tensor block = features.narrow(0, begin, rows).to(at::kDouble);
    const at::Tensor label = labels.narrow(0, begin, rows);
    moments.count.index_add_(0, label, at::ones({rows}, options));
    moments.sum.index_add_(0, label, block);
    moments.sum_squares.index_add_(0, label, block * block);
  }
  return moments;
}

Moments attribute_moments(const Moments& classes, const at::Tensor& association) {
  expect_tensor(association,
                {"association", association.scalar_type(), {classes.count.size(0), -1}, classes.count.device()});
  const at::Tensor has = (association > 0).to(at::kDouble).t();  // [a, c]
  return {at::mv(has, classes.count), at::mm(has, classes.sum), at::mm(has, classes.sum_squares)};
}

}  // namespace protocom
