#include "base/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/matrix.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> values(const Array& array) {
  return std::vector<T>(array.data<T>(), array.data<T>() + array.numel());
}

Array two_by_three() { return Array::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Array, WithoutAnythingIsUndefined) {
  const Array none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(none.dim(), 0);
  EXPECT_EQ(none.numel(), 0);
}

TEST(Array, KnowsItsTypeShapeAndSize) {
  const Array zeros = Array::zeros({2, 0, 3}, NumberType::kInt16);
  EXPECT_TRUE(zeros.defined());
  EXPECT_EQ(zeros.numel(), 0);
  const Array array = two_by_three();
  EXPECT_EQ(array.type(), NumberType::kFloat32);
  EXPECT_THAT(array.shape(), ElementsAre(2, 3));
  EXPECT_EQ(array.size(1), 3);
  EXPECT_EQ(array.numel(), 6);
  EXPECT_EQ(array.bytes(), 24u);
  EXPECT_THAT(values<double>(Array::zeros({3}, NumberType::kFloat64)), ElementsAre(0, 0, 0));
  EXPECT_EQ(Array::zeros({}).numel(), 1) << "a single number";
}

TEST(Array, SharesItsValuesWithCopiesAndViews) {
  Array array = two_by_three();
  Array second = array.row(1);
  EXPECT_THAT(second.shape(), ElementsAre(3));
  second.mutable_data<float>()[0] = 9;
  const Array same = array;
  EXPECT_THAT(values<float>(same), ElementsAre(1, 2, 3, 9, 5, 6));
  array = Array();
  EXPECT_THAT(values<float>(second), ElementsAre(9, 5, 6)) << "a view keeps the values";
}

TEST(Array, HasRowsAndOtherShapes) {
  const Array array = Array::of(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_THAT(values<int64_t>(array.rows(1, 3)), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(array.rows(1, 1).shape(), ElementsAre(0, 2));
  EXPECT_EQ(array.row(2).row(1).numel(), 1);
  EXPECT_THAT(values<int64_t>(array.row(2).row(1)), ElementsAre(6));
  EXPECT_THAT(array.reshaped({2, 3}).shape(), ElementsAre(2, 3));
  EXPECT_THAT(values<int64_t>(array.reshaped({2, 3}).row(1)), ElementsAre(4, 5, 6));
}

TEST(Array, GathersRowsIntoACopy) {
  const Array array = two_by_three();
  const Array some = array.gathered({1, 0, 1});
  EXPECT_THAT(some.shape(), ElementsAre(3, 3));
  EXPECT_THAT(values<float>(some), ElementsAre(4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(array.gathered({}).shape(), ElementsAre(0, 3));
}

TEST(Array, CopiesAreTheirOwn) {
  const Array array = two_by_three();
  Array copy = array.copy();
  copy.mutable_data<float>()[0] = 9;
  EXPECT_THAT(values<float>(array), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values<float>(copy), ElementsAre(9, 2, 3, 4, 5, 6));
}

TEST(Array, OfTheSameTypeIsItself) {
  const Array array = two_by_three();
  EXPECT_EQ(array.to(NumberType::kFloat32).raw(), array.raw());
}

TEST(Array, BecomesEveryType) {
  const Array array = Array::of(std::vector<double>{0, -2.75, 3.5});
  EXPECT_THAT(values<bool>(array.to(NumberType::kBool)), ElementsAre(false, true, true));
  EXPECT_THAT(values<int8_t>(array.to(NumberType::kInt8)), ElementsAre(0, -2, 3));
  EXPECT_THAT(values<int32_t>(array.to(NumberType::kInt32)), ElementsAre(0, -2, 3));
  EXPECT_THAT(values<float>(array.to(NumberType::kFloat32)), ElementsAre(0, -2.75F, 3.5F));
  EXPECT_THAT(values<double>(Array::of(std::vector<int16_t>{-3, 4}).to(NumberType::kFloat64)), ElementsAre(-3, 4));
}

// float16: 5 bits of exponent, 10 of fraction: 1 is 0x3c00, -2.75 = -1.375 * 2 is 0xc180, 65504 is 0x7bff, and
// 1/3 = 1.0101010101(01...) * 2^-2 is 0x3555. bfloat16 are the upper bits of float32: 1/3 is 0x3eab when rounded.
TEST(Array, BecomesShortNumbersAndComesBack) {
  const Array array = Array::of(std::vector<float>{1, -2.75F, 65504, 1.F / 3});
  const Array half = array.to(NumberType::kFloat16), brain = array.to(NumberType::kBFloat16);
  const auto bits = [](const Array& of, int64_t i) {
    uint16_t word = 0;
    std::memcpy(&word, static_cast<const char*>(of.raw()) + 2 * i, sizeof(word));
    return word;
  };
  EXPECT_EQ(bits(half, 0), 0x3c00);
  EXPECT_EQ(bits(half, 1), 0xc180);
  EXPECT_EQ(bits(half, 2), 0x7bff);
  EXPECT_EQ(bits(half, 3), 0x3555);
  EXPECT_EQ(bits(brain, 0), 0x3f80);
  EXPECT_EQ(bits(brain, 3), 0x3eab);
  EXPECT_THAT(values<float>(half.to(NumberType::kFloat32)), ElementsAre(1, -2.75F, 65504, 0x555 * 0x1p-12F));
  EXPECT_THAT(values<float>(brain.to(NumberType::kFloat32)), ElementsAre(1, -2.75F, 65536, 0xab * 0x1p-9F));
}

TEST(Array, OfNumbersBeyondARangeBecomesItsEnd) {
  const Array array = Array::of(std::vector<double>{1e300, -1e300});
  EXPECT_THAT(values<uint8_t>(array.to(NumberType::kUInt8)), ElementsAre(255, 0));
  const Array none = Array::of(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(testing::message_of([&] { (void)none.to(NumberType::kInt64); }), HasSubstr("nan"));
}

TEST(Array, OnMemoryOfSomebodyElseKeepsTheOwner) {
  auto owner = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{7, 8, 9});
  const std::weak_ptr<std::vector<int32_t>> watched = owner;
  int32_t* data = owner->data();
  Array view = Array::view(data, {3}, NumberType::kInt32, std::move(owner));
  EXPECT_EQ(view.raw(), data);
  view = view.rows(1, 3);
  EXPECT_FALSE(watched.expired());
  EXPECT_THAT(values<int32_t>(view), ElementsAre(8, 9));
  view = Array();
  EXPECT_TRUE(watched.expired());
}

TEST(Array, IsAMatrixWhereItLies) {
  Array array = two_by_three();
  EXPECT_EQ(matrix_of<float>(array)(1, 0), 4);
  EXPECT_EQ(matrix_of<float>(array.row(1)).cols(), 3);
  mutable_matrix_of<float>(array)(0, 2) = 8;
  EXPECT_THAT(values<float>(array), ElementsAre(1, 2, 8, 4, 5, 6));
  const Array turned = array_of_matrix(matrix_of<float>(array).transpose());
  EXPECT_THAT(turned.shape(), ElementsAre(3, 2));
  EXPECT_THAT(values<float>(turned), ElementsAre(1, 4, 2, 5, 8, 6));
}

TEST(ArrayDeathTest, OfAnotherTypeIsOurMistake) {
  EXPECT_DEATH((void)two_by_three().data<double>(), "kType");
  EXPECT_DEATH((void)two_by_three().row(2), "index");
}

}  // namespace
}  // namespace protocom
