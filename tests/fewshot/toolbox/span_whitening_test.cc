#include "fewshot/toolbox/detail/span_whitening.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace protocom {
namespace {

constexpr int64_t kLongRow = 9;

/// Returns six images in nine dimensions.
at::Tensor few_points() {
  at::manual_seed(11);
  return at::randn({6, kLongRow}, at::kDouble);
}

/// A scatter whose dimensions are not those of the points, and W with W W' = S^-1.
struct Scatter {
  Scatter() {
    at::manual_seed(12);
    const at::Tensor x = at::randn({30, kLongRow}, at::kDouble) * at::arange(1, kLongRow + 1).to(at::kDouble) / 4;
    scatter = at::matmul(x.t(), at::matmul(at::diag(at::rand({30}, at::kDouble)), x)) / 30;
    const auto [values, vectors] = at::linalg_eigh(scatter);
    whitening = vectors * values.rsqrt();
  }
  at::Tensor scatter, whitening;
};

/// Returns inner products of the points, from the definition.
at::Tensor inner_products_of(const at::Tensor& x, const at::Tensor& scatter, double most) {
  const at::Tensor base = std::get<0>(at::linalg_qr(x.t(), "reduced"));  // [d, m]
  const at::Tensor within = at::linalg_inv(at::matmul(base.t(), at::matmul(at::linalg_inv(scatter), base)));
  const auto [values, vectors] = at::linalg_eigh(within);
  const at::Tensor y = at::matmul(at::matmul(x, base), vectors) * values.rsqrt().clamp_max(most);
  return at::matmul(y, y.t());
}

class SpanWhitening : public ::testing::TestWithParam<double> {};

DoubleMatrix matrix_of_rows(const at::Tensor& rows) {
  return Eigen::Map<const DoubleMatrix>(rows.contiguous().data_ptr<double>(), rows.size(0), rows.size(1));
}

/// Returns inner products of the coordinates found for points that are all learned from.
at::Tensor found_products(const at::Tensor& points, const Scatter& base, double most) {
  const at::Tensor white = at::matmul(points, base.whitening);
  const DoubleMatrix found = whitened_in_span(matrix_of_rows(points), matrix_of_rows(white), points.size(0), most);
  const DoubleMatrix inner = found * found.transpose();
  return at::from_blob(const_cast<double*>(inner.data()), {inner.rows(), inner.cols()}, at::kDouble).clone();
}

TEST_P(SpanWhitening, IsWhatItsDefinitionSays) {
  const at::Tensor points = few_points();
  const Scatter base;
  const at::Tensor defined = inner_products_of(points, base.scatter, GetParam());
  const at::Tensor inner = found_products(points, base, GetParam());
  EXPECT_LT((inner - defined).abs().max().item<double>(), 1e-4 * defined.abs().max().item<double>());
}

INSTANTIATE_TEST_SUITE_P(Limits, SpanWhitening, ::testing::Values(0.8, 1.5, 1e6));

TEST(SpanWhitening, LeavesOutRowsOfZerosAndImagesThatAreGivenTwice) {
  const at::Tensor points = few_points();
  const Scatter base;
  points[1].zero_();
  points[3].copy_(points[4]);
  const at::Tensor white = at::matmul(points, base.whitening);
  const at::Tensor inner = at::matmul(white, white.t());
  EXPECT_LT((found_products(points, base, 1e6) - inner).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace protocom
