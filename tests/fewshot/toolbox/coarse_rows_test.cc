#include "fewshot/toolbox/detail/coarse_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/threads.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/vector_form.h"
#include "support/matrices.h"
#include "support/vector_forms.h"

namespace protocom {
namespace {

class CoarseRowsTest : public ::testing::Test {
 protected:
  static constexpr int64_t kMany = 3000, kDim = 96;
  at::Generator generator_ = at::detail::createCPUGenerator(5);
  at::Tensor many_ = at::randn({kMany, kDim}, generator_), few_ = at::randn({4, kDim}, generator_);

  [[nodiscard]] at::Tensor exact() const {
    return protocom::tensor_of(row_products(float_matrix_of(few_), array_of(many_)));
  }
  [[nodiscard]] at::Tensor found() const {
    const FloatMatrix few = float_matrix_of(few_);
    return protocom::tensor_of(
        products_with_many(few, few, {array_of(many_), coarse_rows(float_matrix_of(many_)), {}}));
  }
};

TEST_F(CoarseRowsTest, TheLargestProductsAreExactToTheLastBit) {
  const auto expected = exact().sort(1, /*descending=*/true);
  const at::Tensor largest = std::get<1>(expected).slice(1, 0, 64);
  EXPECT_TRUE(found().gather(1, largest).equal(std::get<0>(expected).slice(1, 0, 64)));
}

TEST_F(CoarseRowsTest, TheOthersAreOffByAFewThousandthsOfTheLengths) {
  const at::Tensor lengths = few_.norm(2, 1, true) * many_.norm(2, 1).unsqueeze(0);
  const at::Tensor off = ((found() - exact()) / lengths).abs();
  EXPECT_LT(off.max().item<double>(), 3e-3);
  EXPECT_GT(off.max().item<double>(), 0) << "nothing was rounded";
}

TEST_F(CoarseRowsTest, EveryProcessorAndNumberOfThreadsGivesTheSame) {
  const at::Tensor expected = found();
  const at::Tensor rest = exact().le(std::get<0>(exact().kthvalue(kMany - 2 * kExactProducts, 1, true)));
  {
    const testing::VectorFormKept kept;
    for (const std::string& form : vector_form_names()) {
      use_vector_form(form);
      EXPECT_TRUE(found().masked_select(rest).equal(expected.masked_select(rest))) << form;
    }
  }
  const ThreadScope one(1);
  EXPECT_TRUE(found().equal(expected));
}

TEST_F(CoarseRowsTest, WhatIsNotCoarseIsAddedAndRowsOfZerosAreZero) {
  const at::Tensor part = at::zeros({1, kDim}), rows = at::cat({part, at::ones({1, 16})}, 1);
  const at::Tensor offsets = at::arange(kMany).to(at::kFloat);
  const at::Tensor wide = at::cat({at::zeros({kMany, kDim}), offsets.unsqueeze(1), at::zeros({kMany, 15})}, 1);
  const FloatMatrix zeros = FloatMatrix::Zero(kMany, kDim);
  const at::Tensor found = protocom::tensor_of(products_with_many(
      float_matrix_of(rows), float_matrix_of(part), {array_of(wide), coarse_rows(zeros), array_of(offsets)}));
  EXPECT_TRUE(found.squeeze(0).equal(offsets));
}

}  // namespace
}  // namespace protocom
