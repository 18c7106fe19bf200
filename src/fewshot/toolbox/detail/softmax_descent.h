#pragma once
#include <cstdint>

namespace protocom {

/// Softmax regression of points on labels by gradient descent with momentum and weight decay, in coefficients of the
/// points and in float64: scores = decayed start + gram coefficients, less those of the last class, of which there is
/// no row. All rows are [stride], a multiple of kRowMultiple (row_kernels.h), filled up with zeros.
struct SoftmaxDescent {
  /// [stride / kRowMultiple, points, kRowMultiple], what is multiplied together side by side; with 1 added to each
  /// product the bias is learned too.
  const double* gram = nullptr;
  const double* start = nullptr;   ///< [n - 1, stride], scores of the weights at the start
  const double* labels = nullptr;  ///< [n, stride]: 1 for a point's class; without any the point takes no part
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
/// Sums over the steps of each point's cross-entropy, [stride]; nothing of use where a point has no label.
void softmax_descent(const SoftmaxDescent& task, double* losses);

}  // namespace protocom
