#include "fewshot/toolbox/detail/span_whitening.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace protocom {
namespace {

constexpr int64_t kLongRow = 9;

/// Two supports and four queries in nine dimensions.
EpisodePoints few_points() {
  at::manual_seed(11);
  EpisodeBatch batch;
  batch.support = at::randn({2, 2, 1, kLongRow});
  batch.query = at::randn({2, 4, kLongRow});
  return episode_points(batch);
}

/// A scatter whose dimensions are not those of the points, and W with W W' = S^-1.
struct Scatter {
  Scatter() {
    at::manual_seed(12);
    const at::Tensor x = at::randn({30, kLongRow}, at::kDouble) * at::arange(1, kLongRow + 1).to(at::kDouble) / 4;
    scatter = at::matmul(x.t(), at::matmul(at::diag(at::rand({30}, at::kDouble)), x)) / 30;
    const auto [values, vectors] = at::linalg_eigh(scatter);
    whitening = (vectors * values.rsqrt()).to(at::kFloat);
  }
  at::Tensor scatter, whitening;
};

/// Inner products of the points, from the definition.
at::Tensor inner_products_of(const at::Tensor& x, const at::Tensor& scatter, double most) {
  const at::Tensor base = std::get<0>(at::linalg_qr(x.t(), "reduced"));  // [d, m]
  const at::Tensor within = at::linalg_inv(at::matmul(base.t(), at::matmul(at::linalg_inv(scatter), base)));
  const auto [values, vectors] = at::linalg_eigh(within);
  const at::Tensor y = at::matmul(at::matmul(x, base), vectors) * values.rsqrt().clamp_max(most);
  return at::matmul(y, y.t());
}

class SpanWhitening : public ::testing::TestWithParam<double> {};

TEST_P(SpanWhitening, IsWhatItsDefinitionSays) {
  const EpisodePoints points = few_points();
  const Scatter base;
  const at::Tensor found = whitened_in_span(points, base.whitening, GetParam());
  for (int64_t e = 0; e < 2; ++e) {
    const at::Tensor inner = at::matmul(found[e], found[e].t()).to(at::kDouble);
    const at::Tensor defined = inner_products_of(points.features[e].to(at::kDouble), base.scatter, GetParam());
    EXPECT_LT((inner - defined).abs().max().item<double>(), 1e-4 * defined.abs().max().item<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, SpanWhitening, ::testing::Values(0.8, 1.5, 1e6));

TEST(SpanWhitening, LeavesOutRowsOfZerosAndImagesThatAreGivenTwice) {
  EpisodePoints points = few_points();
  const Scatter base;
  points.features.select(1, 1).zero_();
  points.features.select(1, 3).copy_(points.features.select(1, 4));
  const at::Tensor found = whitened_in_span(points, base.whitening, 1e6);
  const at::Tensor white = at::matmul(points.features, base.whitening);
  const at::Tensor inner = at::matmul(white, white.transpose(1, 2));
  EXPECT_LT((at::matmul(found, found.transpose(1, 2)) - inner).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace protocom
