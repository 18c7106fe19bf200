#include "tensors/tensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.h"
#include "support/same_tensor.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::same;

TEST(Tensors, OfArraysHaveTheSameMemoryAndKeepIt) {
  Array array = Array::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const at::Tensor tensor = tensor_of(array);
  EXPECT_EQ(tensor.data_ptr(), array.raw());
  array.mutable_data<float>()[5] = 7;
  array = Array();
  EXPECT_TRUE(same(tensor, at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 7.F}).view({2, 3})));
}

TEST(Tensors, BecomeArraysOnTheirMemoryWhichKeepIt) {
  at::Tensor tensor = at::tensor({1.F, 2.F, 3.F, 4.F}).view({2, 2});
  const Array array = array_of(tensor);
  EXPECT_EQ(array.raw(), tensor.data_ptr());
  tensor[1][0] = 9;
  tensor = at::Tensor();
  EXPECT_THAT(array.shape(), ElementsAre(2, 2));
  EXPECT_EQ(array.data<float>()[2], 9);
}

TEST(Tensors, ThatDoNotLieRowByRowAreCopied) {
  const Array turned = array_of(at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).view({2, 3}).t());
  EXPECT_THAT(turned.shape(), ElementsAre(3, 2));
  EXPECT_THAT(std::vector<float>(turned.data<float>(), turned.data<float>() + 6), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Tensors, OfEveryTypeComeBackAsTheyWere) {
  for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                          at::kFloat, at::kDouble}) {
    const at::Tensor tensor = at::tensor({0, 1, 1, 0, 1, 1}, at::kLong).view({2, 3, 1}).to(type);
    const Array array = array_of(tensor);
    EXPECT_EQ(to_string(array.type()), c10::toString(type)) << "messages name types as they did";
    EXPECT_EQ(size_of(array.type()), static_cast<int64_t>(c10::elementSize(type)));
    EXPECT_TRUE(same(tensor_of(array), tensor)) << type;
  }
}

TEST(Tensors, ThatAreUndefinedStayIt) {
  EXPECT_FALSE(tensor_of(Array()).defined());
  EXPECT_FALSE(array_of(at::Tensor()).defined());
  EXPECT_TRUE(same(tensor_of(array_of(at::zeros({0, 4}))), at::zeros({0, 4})));
}

TEST(Tensors, WithGradientsBecomeTheirValues) {
  const Array array = array_of(at::ones({2}).requires_grad_());
  EXPECT_FALSE(tensor_of(array).requires_grad());
}

TEST(Tensors, OfComplexNumbersAreRefused) {
  EXPECT_THAT(testing::message_of([] { array_of(at::ones(2).to(at::kComplexFloat)); }), HasSubstr("ComplexFloat"));
}

TEST(Tensors, GiveTheirNumbers) {
  EXPECT_THAT(numbers_of(at::arange(6, at::kLong).view({2, 3}).select(1, 1)), ElementsAre(1, 4));
}

TEST(Tensors, ByTheirNames) {
  const auto tensors = tensors_of({{"a", Array::of(std::vector<int64_t>{3, 4})}});
  EXPECT_TRUE(same(tensors.at("a"), at::tensor({3, 4}, at::kLong)));
  const auto arrays = arrays_of({{"b", at::tensor({0.5F})}});
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].first, "b");
  EXPECT_EQ(arrays[0].second.type(), NumberType::kFloat32);
}

}  // namespace
}  // namespace protocom
