#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Labelled images of the current classes as rows of a space.
struct ClassRows {
  DoubleMatrix x;              ///< [m, e]
  std::vector<int64_t> label;  ///< [m], in [0, classes), each of which occurs
  int64_t classes = 0;

  [[nodiscard]] int64_t images() const { return x.rows(); }
  /// Returns the number of images of each class, [classes].
  [[nodiscard]] DoubleVector count() const;
  /// Returns the sum of each class's rows, [classes, e].
  [[nodiscard]] DoubleMatrix sums() const;
  /// Returns the mean of each class's rows.
  [[nodiscard]] DoubleMatrix means() const;
  /// Returns only these images, [k] of the m.
  [[nodiscard]] ClassRows of(const std::vector<int64_t>& which) const;
};

/// Sums over rows of classes, which suffice to make a space, so that folds of many rows need one pass.
struct ClassMoments {
  DoubleMatrix middle;   ///< [classes, e], subtracted before summing for the sake of precision
  DoubleVector count;    ///< [classes], number of images
  DoubleMatrix sum;      ///< [classes, e], each class's sum of x - middle
  DoubleMatrix squares;  ///< [e, e], sum of products of x - middle over all images

  /// Returns the moments of rows, with the class means as middle.
  static ClassMoments of(const ClassRows& rows);
  /// Returns the moments without the rows `which`, given that these are the moments of all `rows` and each class keeps
  /// an image.
  [[nodiscard]] ClassMoments without(const ClassRows& rows, const std::vector<int64_t>& which) const;
  [[nodiscard]] DoubleMatrix means() const;
  /// Returns the scatter of images about their class means, [e, e].
  [[nodiscard]] DoubleMatrix within() const;
};

/// Returns each row minus the mean of its class, [m, e].
DoubleMatrix within_rows(const ClassRows& rows);

/// Returns (mean of a class - mean of the means) / sqrt(between + 1 / images of the class), [classes, e]: rows with
/// covariance I if the covariance of class means is `between` times I and that of images of a class I. `count`
/// [classes] images and `means` [classes, e].
DoubleMatrix between_rows(const DoubleVector& count, DoubleMatrix means, double between);

/// Returns the indices of the rows [m], ascending, without rows equal to another one of their class: a copy does not
/// show how images differ. Each pointer is to `width` numbers.
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
