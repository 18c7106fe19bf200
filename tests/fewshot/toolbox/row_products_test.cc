#include "fewshot/toolbox/detail/row_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

double furthest(const at::Tensor& found, const at::Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>();
}

class RowProducts : public ::testing::TestWithParam<int64_t> {
 protected:
  RowProducts() : rows_(at::randn({2, 37, GetParam()}, generator_)), wide_(rows_.to(at::kDouble)) {}
  at::Generator generator_ = at::detail::createCPUGenerator(4);
  at::Tensor rows_, wide_;
};

TEST_P(RowProducts, AreThoseOfAMatrixProduct) {
  const at::Tensor others = at::randn({2, 6, GetParam()}, generator_);
  const at::Tensor expected = at::matmul(wide_, others.to(at::kDouble).transpose(1, 2));
  EXPECT_LT(furthest(row_products(rows_, others), expected), 1e-4);
  EXPECT_LT(furthest(inner_products(rows_, others), expected), 1e-4);
  EXPECT_TRUE(inner_products(rows_.clone().requires_grad_(), others).requires_grad()) << "by matmul";
}

TEST_P(RowProducts, FillAGramMatrixUpWithZeros) {
  const at::Tensor gram = row_gram(rows_);
  ASSERT_EQ(gram.sizes(), at::IntArrayRef({2, 37, padded_length(37)}));
  EXPECT_LT(furthest(gram.slice(2, 0, 37), at::matmul(wide_, wide_.transpose(1, 2))), 1e-4);
  EXPECT_EQ(gram.slice(2, 37).abs().max().item<float>(), 0);
}

TEST_P(RowProducts, GiveSquaredLengths) { EXPECT_LT(furthest(row_squares(rows_), wide_.square().sum(-1, true)), 1e-4); }

INSTANTIATE_TEST_SUITE_P(Widths, RowProducts, ::testing::Values(5, 16, 40));

}  // namespace
}  // namespace protocom
