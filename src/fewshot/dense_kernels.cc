#include "fewshot/detail/processor_vectors.h"
#include "fewshot/row_kernels.h"

// Kernels of row_kernels.h for dense layers and for single rows.
namespace protocom {
namespace {

// -------------------------------------------------------------------------------------------------------- dense_rows

template <typename Cpu, int kRows, int kVectors>
PROTOCOM_INLINE void dense_columns(const DenseRows& task, int64_t row, int64_t column, float* out) {
  using Vector = typename Cpu::Vector;
  constexpr int64_t kStep = kLanes<Cpu>;
  const float* in = task.in + row * task.in_stride;
  const float* weight = task.panels + column / kPanelWidth * kPanelWidth * task.depth + column % kPanelWidth;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sum[r][v] = at<Cpu>(task.bias + column + v * kStep).vector;
  }
  for (int64_t k = 0; k < task.depth; ++k, weight += kPanelWidth) {
    Vector values[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) values[v] = at<Cpu>(weight + v * kStep).vector;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float factor = in[r * task.in_stride + k];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * values[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) at<Cpu>(out + (row + r) * task.width + column + v * kStep).vector = sum[r][v];
  }
}

template <typename Cpu, int kRows>
PROTOCOM_INLINE void dense_tile(const DenseRows& task, int64_t row, float* out) {
  constexpr int64_t kStep = kLanes<Cpu>;
  int64_t column = 0;
  for (; column + 2 * kStep <= task.width; column += 2 * kStep) dense_columns<Cpu, kRows, 2>(task, row, column, out);
  for (; column < task.width; column += kStep) dense_columns<Cpu, kRows, 1>(task, row, column, out);
}

template <typename Cpu>
PROTOCOM_INLINE void dense_body(const DenseRows& task, float* out) {
  int64_t row = 0;
  for (; row + Cpu::kDenseRows <= task.rows; row += Cpu::kDenseRows) dense_tile<Cpu, Cpu::kDenseRows>(task, row, out);
  for (; row + 5 <= task.rows; row += 5) dense_tile<Cpu, 5>(task, row, out);
  for (; row + 4 <= task.rows; row += 4) dense_tile<Cpu, 4>(task, row, out);
  for (; row + 2 <= task.rows; row += 2) dense_tile<Cpu, 2>(task, row, out);
  for (; row < task.rows; ++row) dense_tile<Cpu, 1>(task, row, out);
}

// --------------------------------------------------------------- relu_dot, second_smallest, unit_row, add_scaled_row

template <typename Cpu>
PROTOCOM_INLINE float relu_dot_body(const float* a, const float* b, const float* w, int64_t dim) {
  using Vector = typename Cpu::Vector;
  Vector sum = {};
  for (int64_t d = 0; d < dim; d += kLanes<Cpu>) {
    const Vector value = at<Cpu>(a + d).vector + at<Cpu>(b + d).vector;
    sum += at<Cpu>(w + d).vector * (value > Vector{} ? value : Vector{});
  }
  return lane_sum(sum);
}

/// Reduces each lane, then the lanes.
template <typename Cpu>
PROTOCOM_INLINE float second_smallest_body(const float* values, int64_t count) {
  using Vector = typename Cpu::Vector;
  Vector least = at<Cpu>(values).vector;
  Vector next = Vector{} + __builtin_inff();
  for (int64_t i = kLanes<Cpu>; i < count; i += kLanes<Cpu>) {
    const Vector value = at<Cpu>(values + i).vector;
    const Vector larger = value > least ? value : least;
    least = value < least ? value : least;
    next = larger < next ? larger : next;
  }
  float all[2 * kLanes<Cpu>];
  at<Cpu>(all).vector = least;
  at<Cpu>(all + kLanes<Cpu>).vector = next;
  float first = __builtin_inff();
  float second = first;
  for (const float value : all) {
    const float larger = value > first ? value : first;
    first = value < first ? value : first;
    second = larger < second ? larger : second;
  }
  return second;
}

template <typename Cpu>
PROTOCOM_INLINE void unit_body(const float* from, const float* centre, int64_t dim, float* out) {
  constexpr float kTiny = 1e-12F;
  using Vector = typename Cpu::Vector;
  Vector square = {};
  for (int64_t d = 0; d < dim; d += kLanes<Cpu>) {
    const Vector value = at<Cpu>(from + d).vector - at<Cpu>(centre + d).vector;
    at<Cpu>(out + d).vector = value;
    square += value * value;
  }
  const float length = __builtin_sqrtf(lane_sum(square));
  const float factor = 1.0F / (length > kTiny ? length : kTiny);
  for (int64_t d = 0; d < dim; d += kLanes<Cpu>) at<Cpu>(out + d).vector *= factor;
}

template <typename Cpu>
PROTOCOM_INLINE void add_scaled_body(float factor, const float* row, int64_t dim, float* out) {
  for (int64_t d = 0; d < dim; d += kLanes<Cpu>) at<Cpu>(out + d).vector += factor * at<Cpu>(row + d).vector;
}

}  // namespace

PROTOCOM_KERNEL(dense_rows, void, (const DenseRows& task, float* out), dense_body<Cpu>, (task, out))
PROTOCOM_KERNEL(relu_dot, float, (const float* a, const float* b, const float* w, int64_t dim), relu_dot_body<Cpu>,
                (a, b, w, dim))
PROTOCOM_KERNEL(add_scaled_row, void, (float factor, const float* row, int64_t dim, float* out), add_scaled_body<Cpu>,
                (factor, row, dim, out))
PROTOCOM_KERNEL(second_smallest, float, (const float* values, int64_t count), second_smallest_body<Cpu>,
                (values, count))
PROTOCOM_KERNEL(unit_row, void, (const float* from, const float* centre, int64_t dim, float* out), unit_body<Cpu>,
                (from, centre, dim, out))

}  // namespace protocom
