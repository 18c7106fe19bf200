#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace protocom {

/// Number, sum and sum of squares of the features of each group (class or attribute): sufficient for means and
/// variances, and additive.
struct Moments {
  at::Tensor count;        ///< float64 [g]
  at::Tensor sum;          ///< float64 [g, d]
  at::Tensor sum_squares;  ///< float64 [g, d]

  /// Returns float64 [g, d]; 0 for an empty group.
  [[nodiscard]] at::Tensor mean() const;
  /// Returns the variance with divisor n - 1 (the authors' code; equation 3 prints n), float64 [g, d]; 0 for groups of
  /// fewer than two.
  [[nodiscard]] at::Tensor variance() const;
  /// Returns the square root of variance().
  [[nodiscard]] at::Tensor std() const;
};

/// Computes the moments in one pass over features [n, d] with labels int64 [n] in [0, groups), on one device.
/// Accumulates in float64. Throws Error for other labels.
Moments class_moments(const at::Tensor& features, const at::Tensor& labels, int64_t groups);

/// Computes attribute moments (equations 2 and 3): attribute a pools all images of the classes with association > 0 in
/// column a. `association` is [c, a] over the same classes, in the same order, as `classes`. Throws Error for another
/// number of classes.
Moments attribute_moments(const Moments& classes, const at::Tensor& association);

}  // namespace protocom
