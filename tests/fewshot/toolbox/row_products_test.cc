#include "fewshot/toolbox/detail/row_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/threads.h"
#include "fewshot/row_kernels.h"
#include "heads/detail/tensor_products.h"
#include "support/matrices.h"

namespace protocom {
namespace {

double furthest(const at::Tensor& found, const at::Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>();
}

class RowProductsTest : public ::testing::TestWithParam<int64_t> {
 protected:
  RowProductsTest() : rows_(at::randn({2, 37, GetParam()}, generator_)), wide_(rows_.to(at::kDouble)) {}
  at::Generator generator_ = at::detail::createCPUGenerator(4);
  at::Tensor rows_, wide_;
};

TEST_P(RowProductsTest, AreThoseOfAMatrixProduct) {
  const at::Tensor others = at::randn({2, 6, GetParam()}, generator_);
  const at::Tensor expected = at::matmul(wide_, others.to(at::kDouble).transpose(1, 2));
  EXPECT_LT(furthest(inner_products(rows_, others), expected), 1e-4);
  EXPECT_TRUE(inner_products(rows_.clone().requires_grad_(), others).requires_grad()) << "by matmul";
}

TEST_P(RowProductsTest, OfThousandsAreTheSameOnAnyNumberOfThreads) {
  const int64_t dim = padded_length(GetParam());
  const at::Tensor few = at::randn({3, dim}, generator_), many = at::randn({5000, dim}, generator_);
  const FloatMatrix rows = float_matrix_of(few);
  const at::Tensor found = protocom::tensor_of(row_products(rows, array_of(many)));
  EXPECT_LT(furthest(found, at::matmul(few.to(at::kDouble), many.to(at::kDouble).t())), 1e-4);
  const ThreadScope one(1);
  EXPECT_TRUE(protocom::tensor_of(row_products(rows, array_of(many))).equal(found));
}

TEST_P(RowProductsTest, GiveSquaredLengths) {
  EXPECT_LT(furthest(row_squares(rows_), wide_.square().sum(-1, true)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Widths, RowProductsTest, ::testing::Values(5, 16, 40));

}  // namespace
}  // namespace protocom
