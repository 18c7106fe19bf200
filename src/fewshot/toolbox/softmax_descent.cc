#include "fewshot/toolbox/detail/softmax_descent.h"

#include <cmath>
#include <cstring>

#include "fewshot/detail/processor_vectors.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

/// 1 / k!
constexpr double kSeries[] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

/// Replaces x <= 0 by e^x: 2^n times the exponential series of the remainder, at most log(2) / 2, up to its 13th term.
template <typename Cpu>
PROTOCOM_INLINE void exponential(typename Cpu::Doubles& x) {
  using Vector = typename Cpu::Doubles;
  constexpr double kSmallest = -700;
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
  const Vector limit = Vector{} + kSmallest;
  x = x < limit ? limit : x;
  const Vector shifted = x * 1.4426950408889634 + kShift;
  const Vector n = shifted - kShift;
  const Vector r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  Vector sum = Vector{} + kSeries[13];
#pragma GCC unroll 16
  for (int term = 12; term >= 0; --term) sum = sum * r + kSeries[term];
  typename Cpu::Longs bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 1023) << 52;
  Vector power;
  std::memcpy(&power, &bits, sizeof(power));
  x = sum * power;
}

/// scores[k] = decayed start[k] + sum_j coefficients[k][j] gram[j], for kRows classes from `first` on, all relative to
/// the last class.
template <typename Cpu, int kRows>
PROTOCOM_INLINE void score_tile(const SoftmaxDescent& task, int64_t first, double kept, double* scores) {
  using Vector = typename Cpu::Doubles;
  constexpr int64_t kStep = 2 * kDoubles<Cpu>;
  const double* coefficients = task.work + first * task.stride;
  for (int64_t i = 0; i < task.stride; i += kStep) {
    Vector sum[kRows][2];
#pragma GCC unroll 16
    for (int k = 0; k < kRows; ++k) {
      const double* start = task.start + (first + k) * task.stride + i;
      sum[k][0] = kept * at<Cpu>(start).vector;
      sum[k][1] = kept * at<Cpu>(start + kDoubles<Cpu>).vector;
    }
    const double* gram = task.gram + i / kRowMultiple * kRowMultiple * task.points + i % kRowMultiple;
    for (int64_t j = 0; j < task.points; ++j, gram += kRowMultiple) {
      const Vector left = at<Cpu>(gram).vector;
      const Vector right = at<Cpu>(gram + kDoubles<Cpu>).vector;
#pragma GCC unroll 16
      for (int k = 0; k < kRows; ++k) {
        const double factor = coefficients[k * task.stride + j];
        sum[k][0] += factor * left;
        sum[k][1] += factor * right;
      }
    }
#pragma GCC unroll 16
    for (int k = 0; k < kRows; ++k) {
      at<Cpu>(scores + (first + k) * task.stride + i).vector = sum[k][0];
      at<Cpu>(scores + (first + k) * task.stride + i + kDoubles<Cpu>).vector = sum[k][1];
    }
  }
}

/// Takes one step from the scores of some points: updates their losses, without the logarithm of what is multiplied
/// into `products`, and the coefficients. Only differences to the last class are learned: a softmax depends on nothing
/// else.
template <typename Cpu>
PROTOCOM_INLINE void descend(const SoftmaxDescent& task, int64_t i, double* losses, double* products) {
  using Vector = typename Cpu::Doubles;
  const int64_t last = task.n - 1;
  double* coefficients = task.work + i;
  double* speeds = coefficients + last * task.stride;
  double* scores = speeds + last * task.stride;
  Vector most = {};
  for (int64_t k = 0; k < last; ++k) {
    const Vector score = at<Cpu>(scores + k * task.stride).vector;
    most = score > most ? score : most;
  }
  Vector total = -most;
  exponential<Cpu>(total);
  const Vector label_of_last = at<Cpu>(task.labels + last * task.stride + i).vector;
  const Vector weight_of_last = total;
  Vector own = -label_of_last * most;
  Vector present = label_of_last;
  for (int64_t k = 0; k < last; ++k) {
    const Vector label = at<Cpu>(task.labels + k * task.stride + i).vector;
    Vector weight = at<Cpu>(scores + k * task.stride).vector - most;
    own += label * weight;
    present += label;
    exponential<Cpu>(weight);
    total += weight;
    at<Cpu>(scores + k * task.stride).vector = weight;
  }
  at<Cpu>(losses + i).vector -= own;
  at<Cpu>(products + i).vector *= total;
  const Vector scale = task.share * present / total;
  const Vector pull_of_last = scale * weight_of_last - task.share * label_of_last;
  for (int64_t k = 0; k < last; ++k) {
    const int64_t row = k * task.stride;
    const Vector pull = scale * at<Cpu>(scores + row).vector - task.share * at<Cpu>(task.labels + row + i).vector;
    const Vector speed = task.momentum * at<Cpu>(speeds + row).vector + (pull - pull_of_last) +
                         task.decay * at<Cpu>(coefficients + row).vector;
    at<Cpu>(speeds + row).vector = speed;
    at<Cpu>(coefficients + row).vector -= task.rate * speed;
  }
}

template <typename Cpu>
PROTOCOM_INLINE void descent_body(const SoftmaxDescent& task, double* losses) {
  constexpr int64_t kProducts = 32;  // totals of at most n that are multiplied before taking the logarithm
  const int64_t last = task.n - 1;
  double* scores = task.work + 2 * last * task.stride;
  double* products = scores + last * task.stride;
  std::memset(task.work, 0, static_cast<size_t>(2 * last * task.stride) * sizeof(double));
  for (int64_t i = 0; i < task.stride; ++i) {
    losses[i] = 0;
    products[i] = 1;
  }
  // Decay shrinks the start equally for every score, so one number keeps track of what is left.
  double kept = 1;  // of the start
  double fall = 0;
  for (int64_t step = 1; step <= task.steps; ++step) {
    int64_t k = 0;
    for (; k + 4 <= last; k += 4) score_tile<Cpu, 4>(task, k, kept, scores);
    for (; k < last; ++k) score_tile<Cpu, 1>(task, k, kept, scores);
    for (int64_t i = 0; i < task.stride; i += kDoubles<Cpu>) descend<Cpu>(task, i, losses, products);
    fall = task.momentum * fall + task.decay * kept;
    kept -= task.rate * fall;
    if (step % kProducts != 0 && step != task.steps) continue;
    for (int64_t i = 0; i < task.stride; ++i) {
      losses[i] += std::log(products[i]);
      products[i] = 1;
    }
  }
}

}  // namespace

PROTOCOM_KERNEL(softmax_descent, void, (const SoftmaxDescent& task, double* losses), descent_body<Cpu>, (task, losses))

}  // namespace protocom
