#pragma once
#include <cstdint>

namespace protocom {

/// Softmax regression of points on labels by gradient descent with momentum and weight decay, in coefficients of the
/// points and in float64: scores = decayed start + gram coefficients, relative to those of the last class, which has no
/// row. All rows are [stride], a multiple of kRowMultiple (row_kernels.h), padded with zeros.
struct SoftmaxDescent {
  /// [stride / kRowMultiple, points, kRowMultiple]: numbers that are multiplied together lie side by side; adding 1 to
  /// each product learns the bias too.
  const double* gram = nullptr;
  const double* start = nullptr;   ///< [n - 1, stride], scores of the initial weights
  const double* labels = nullptr;  ///< [n, stride]: 1 for a point's class; a point without any is left out
  int64_t n = 0;
  int64_t points = 0;
  int64_t stride = 0;
  double share = 1;  ///< weight of each point's cross-entropy
  double rate = 0;
  double momentum = 0;
  double decay = 0;
  int64_t steps = 0;
  double* work = nullptr;  ///< [(3 n - 2) * stride]
};
/// Sums each point's cross-entropy over the steps, [stride]; meaningless where a point has no label.
void softmax_descent(const SoftmaxDescent& task, double* losses);

}  // namespace protocom
