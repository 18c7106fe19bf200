#include "fewshot/toolbox/detail/row_span.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fewshot/row_length.h"

namespace protocom {
namespace {

/// Points of a few numbers each, padded to rows, and combinations of them.
struct SpanWorld {
  SpanWorld(int64_t points, int64_t combinations) : count(points), n(combinations) {
    std::mt19937 draw(3);
    std::uniform_real_distribution<float> number(-1, 1);
    values.assign(static_cast<size_t>(points * kRowMultiple), 0.0F);
    for (int64_t i = 0; i < points; ++i) {
      for (int64_t d = 0; d < kWidth; ++d) values[static_cast<size_t>(i * kRowMultiple + d)] = number(draw);
      rows.push_back(values.data() + i * kRowMultiple);
    }
    coefficients.assign(static_cast<size_t>(n * padded_length(points)), 0.0F);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < points; ++i)
        coefficients[static_cast<size_t>(k * padded_length(points) + i)] = number(draw);
    }
  }
  SpanWorld(const SpanWorld&) = delete;
  SpanWorld& operator=(const SpanWorld&) = delete;

  /// Returns the product of point `i` with `other` [kWidth].
  [[nodiscard]] double product(int64_t i, const std::vector<double>& other) const {
    double sum = 0;
    for (int64_t d = 0; d < kWidth; ++d) sum += rows[static_cast<size_t>(i)][d] * other[static_cast<size_t>(d)];
    return sum;
  }
  [[nodiscard]] std::vector<double> combination(int64_t k) const {
    std::vector<double> sum(kWidth, 0.0);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t d = 0; d < kWidth; ++d)
        sum[static_cast<size_t>(d)] +=
            static_cast<double>(coefficients[static_cast<size_t>(k * padded_length(count) + i)]) *
            rows[static_cast<size_t>(i)][d];
    }
    return sum;
  }

  static constexpr int64_t kWidth = 5;
  int64_t count, n;
  Floats values;
  std::vector<const float*> rows;
  Floats coefficients;  // [n, padded_length(count)]
};

/// Few points, which use the Gram matrix, and many, more than twice their dimensions.
TEST(RowSpan, GivesProductsAndDistancesOfCombinationsInBothItsForms) {
  for (const int64_t points : {7, 40}) {
    const SpanWorld world(points, 3);
    RowSpan span;
    span.place(world.rows, kRowMultiple);
    ASSERT_EQ(span.stride(), padded_length(points));
    Floats products(static_cast<size_t>(3 * span.stride()), 9.0F), distances = products;
    span.compute_products(world.coefficients.data(), 3, products.data());
    span.compute_distances(world.coefficients.data(), 3, distances.data());
    for (int64_t k = 0; k < 3; ++k) {
      const std::vector<double> to = world.combination(k);
      for (int64_t i = 0; i < points; ++i) {
        double square = 0;
        for (int64_t d = 0; d < SpanWorld::kWidth; ++d)
          square += std::pow(world.rows[static_cast<size_t>(i)][d] - to[static_cast<size_t>(d)], 2);
        const auto at = static_cast<size_t>(k * span.stride() + i);
        EXPECT_NEAR(products[at], world.product(i, to), 1e-4) << points << ' ' << k << ' ' << i;
        EXPECT_NEAR(distances[at], square, 1e-3) << points << ' ' << k << ' ' << i;
      }
    }
  }
}

TEST(RowSpan, GivesTheProductsOfAPointWithAllInBothItsForms) {
  for (const int64_t points : {7, 40}) {
    const SpanWorld world(points, 1);
    RowSpan span;
    span.place(world.rows, kRowMultiple);
    for (int64_t i = 0; i < points; ++i) {
      const float* found = span.inner(i);
      for (int64_t j = 0; j < points; ++j) {
        const float* other = world.rows[static_cast<size_t>(j)];
        EXPECT_NEAR(found[j], world.product(i, {other, other + SpanWorld::kWidth}), 1e-5);
      }
      for (int64_t j = points; j < span.stride(); ++j) EXPECT_EQ(found[j], 0);
    }
  }
}

}  // namespace
}  // namespace protocom
