#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Labelled images of the classes at hand as rows of a space.
struct ClassRows {
  DoubleMatrix x;              ///< [m, e]
  std::vector<int64_t> label;  ///< [m], in [0, classes), each of which occurs
  int64_t classes = 0;

  [[nodiscard]] int64_t images() const { return x.rows(); }
  /// Images of each class, [classes].
  [[nodiscard]] DoubleVector count() const;
  /// The sum of each class's rows, [classes, e].
  [[nodiscard]] DoubleMatrix sums() const;
  /// Their mean.
  [[nodiscard]] DoubleMatrix means() const;
  /// Those of these images alone, [k] of the m.
  [[nodiscard]] ClassRows of(const std::vector<int64_t>& which) const;
};

/// What rows of classes add up to: of many rows all that a space is made of, so that folds of them need one pass.
struct ClassMoments {
  DoubleMatrix middle;   ///< [classes, e], what sums are about: no precision is lost where classes lie far apart
  DoubleVector count;    ///< [classes], images of each
  DoubleMatrix sum;      ///< [classes, e], of each class's x - middle
  DoubleMatrix squares;  ///< [e, e], of the products of the same over all images

  /// Of rows about the means of their classes.
  static ClassMoments of(const ClassRows& rows);
  /// Of the others, where these are the moments of all `rows` and each class keeps an image.
  [[nodiscard]] ClassMoments without(const ClassRows& rows, const std::vector<int64_t>& which) const;
  [[nodiscard]] DoubleMatrix means() const;
  /// The scatter of images about the means of their classes, [e, e].
  [[nodiscard]] DoubleMatrix within() const;
};

/// Each row less the mean of its class, [m, e].
DoubleMatrix within_rows(const ClassRows& rows);

/// (mean of a class - mean of those) / sqrt(between + 1 / images of the class), [classes, e]: of covariance I where the
/// covariance of class means is `between` times I and that of images of a class I. Of `count` [classes] images and
/// `means` [classes, e].
DoubleMatrix between_rows(const DoubleVector& count, DoubleMatrix means, double between);

/// Indices of the rows [m], ascending, without those that equal another one of their class: a copy does not show how
/// images differ. Each points to `width` numbers.
template <typename Number>
std::vector<int64_t> distinct_rows(const std::vector<const Number*>& rows, const std::vector<int64_t>& label,
                                   int64_t width) {
  const auto compare = [&](size_t i, size_t j) {
    return std::memcmp(rows[i], rows[j], static_cast<size_t>(width) * sizeof(Number));
  };
  std::vector<int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return label[i] != label[j] ? label[i] < label[j] : compare(i, j) < 0;
  });
  const auto last = std::unique(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return label[i] == label[j] && compare(i, j) == 0;
  });
  order.erase(last, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace protocom
