#include "fewshot/row_kernels.h"

#include <cstring>

#include "fewshot/detail/processor_vectors.h"

// Accumulators are arrays of constant size so that they stay in registers.
namespace protocom {
namespace {

constexpr int kDotColumns = 5;

// ---------------------------------------------------------------------------------------------------------- row_dots

/// Stores the lane sums of the products of four rows with four columns, [row][column], in the rows' dots: the same sums
/// as lane_sum(), but sixteen at once. Each step adds the remaining halves of two vectors, side by side.
template <int kColumns>
PROTOCOM_INLINE void store_four_columns(const Float16 (&sum)[4][kColumns], int column, int64_t stride, float* dots) {
  Float16 rows[4];  // one per column: the four remaining numbers of each row
  Float16 halves[2];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    sum_halves(sum[0][column + j], sum[1][column + j], halves[0]);
    sum_halves(sum[2][column + j], sum[3][column + j], halves[1]);
    sum_quarters(halves[0], halves[1], rows[j]);
  }
  Float16 all;
  sum_twos(rows[0], rows[1], halves[0]);
  sum_twos(rows[2], rows[3], halves[1]);
  sum_ones(halves[0], halves[1], all);
#pragma GCC unroll 4
  for (int64_t i = 0; i < 4; ++i)
    std::memcpy(dots + i * stride + column, reinterpret_cast<const float*>(&all) + 4 * i, 16);
}

template <typename Cpu, int kRows, int kColumns>
PROTOCOM_INLINE void store_dots(const typename Cpu::Vector (&sum)[kRows][kColumns], int64_t stride, float* dots) {
  constexpr bool kTogether = kLanes<Cpu> == 16 && kRows == 4;
  constexpr int kFirst = kTogether ? kColumns / 4 * 4 : 0;
  if constexpr (kTogether && kFirst > 0) store_four_columns(sum, 0, stride, dots);
  static_assert(kFirst <= 4);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = kFirst; j < kColumns; ++j) dots[i * stride + j] = lane_sum(sum[i][j]);
  }
}

/// With kAhead, prefetches the next rows (the last `left` of all; at least one) meanwhile: they lie anywhere, which no
/// processor predicts.
template <typename Cpu, int kRows, int kColumns, bool kAhead = false>
PROTOCOM_INLINE void dot_tile(const float* const* rows, const float* const* columns, int64_t dim, int64_t stride,
                              float* dots, int64_t left = 0) {
  using Vector = typename Cpu::Vector;
  constexpr int64_t kLine = 64 / sizeof(float);
  const float* x[kRows];
  const float* y[kColumns];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) x[i] = rows[i];
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) y[j] = columns[j];
  const float* next[kRows];
#pragma GCC unroll 16
  for (int i = 0; kAhead && i < kRows; ++i) next[i] = rows[kRows + (i < left ? i : 0)];
  Vector sum[kRows][kColumns] = {};
  for (int64_t d = 0; d < dim; d += kLanes<Cpu>) {
    if (kAhead && d % kLine == 0) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) __builtin_prefetch(next[i] + d);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) sum[i][j] += at<Cpu>(x[i] + d).vector * at<Cpu>(y[j] + d).vector;
    }
  }
  store_dots<Cpu, kRows, kColumns>(sum, stride, dots);
}

/// Multiplies `count` rows with kColumns columns.
template <typename Cpu, int kColumns, bool kAhead>
PROTOCOM_INLINE void dot_columns(const float* const* rows, int64_t count, const float* const* columns, int64_t dim,
                                 int64_t stride, float* dots) {
  constexpr int kRows = Cpu::kDotRows;
  int64_t i = 0;
  if (kAhead) {
    for (; i + kRows < count; i += kRows)
      dot_tile<Cpu, kRows, kColumns, true>(rows + i, columns, dim, stride, dots + i * stride, count - i - kRows);
  }
  for (; i + kRows <= count; i += kRows)
    dot_tile<Cpu, kRows, kColumns>(rows + i, columns, dim, stride, dots + i * stride);
  for (; kRows > 2 && i + 2 <= count; i += 2)
    dot_tile<Cpu, 2, kColumns>(rows + i, columns, dim, stride, dots + i * stride);
  for (; i < count; ++i) dot_tile<Cpu, 1, kColumns>(rows + i, columns, dim, stride, dots + i * stride);
}

/// Multiplies `count` rows with up to kDotColumns columns.
template <typename Cpu, bool kAhead>
PROTOCOM_INLINE void dot_some(const float* const* rows, int64_t count, const float* const* columns, int64_t n,
                              int64_t dim, int64_t stride, float* dots) {
  if (n >= 5) return dot_columns<Cpu, 5, kAhead>(rows, count, columns, dim, stride, dots);
  if (n == 4) return dot_columns<Cpu, 4, kAhead>(rows, count, columns, dim, stride, dots);
  if (n == 3) return dot_columns<Cpu, 3, kAhead>(rows, count, columns, dim, stride, dots);
  if (n == 2) return dot_columns<Cpu, 2, kAhead>(rows, count, columns, dim, stride, dots);
  dot_columns<Cpu, 1, kAhead>(rows, count, columns, dim, stride, dots);
}

template <typename Cpu>
PROTOCOM_INLINE void dots_body(const RowDots& task, float* dots) {
  if (task.count == 0) return;  // the output may then have no memory
  const float* columns[kDotColumns];
  for (int64_t j = 0; j < task.n; j += kDotColumns) {
    const int64_t n = task.n - j < kDotColumns ? task.n - j : kDotColumns;
    for (int64_t k = 0; k < n; ++k) columns[k] = task.prototypes + (j + k) * task.dim;
    dot_some<Cpu, true>(task.rows, task.count, columns, n, task.dim, task.stride, dots + j);
  }
}

template <typename Cpu>
PROTOCOM_INLINE void products_body(const RowProducts& task, float* products) {
  if (task.count == 0) return;
  for (int64_t j = 0; j < task.n; j += kDotColumns) {
    const int64_t n = task.n - j < kDotColumns ? task.n - j : kDotColumns;
    dot_some<Cpu, false>(task.rows, task.count, task.columns + j, n, task.dim, task.stride, products + j);
  }
}

/// Computes blocks of columns from the diagonal down and mirrors the rest.
template <typename Cpu>
PROTOCOM_INLINE void gram_body(const RowGram& task, float* gram) {
  for (int64_t j = 0; j < task.count; j += kDotColumns) {
    const int64_t n = task.count - j < kDotColumns ? task.count - j : kDotColumns;
    float* own = gram + j * task.stride + j;
    if (j == 0) {
      dot_some<Cpu, true>(task.rows, task.count, task.rows, n, task.dim, task.stride, own);
    } else {
      dot_some<Cpu, false>(task.rows + j, task.count - j, task.rows + j, n, task.dim, task.stride, own);
    }
    for (int64_t i = n; i < task.count - j; ++i) {
      for (int64_t k = 0; k < n; ++k) own[k * task.stride + i] = own[i * task.stride + k];
    }
  }
}

template <typename Cpu>
PROTOCOM_INLINE float dot_body(const float* a, const float* b, int64_t dim) {
  float dot = 0;
  dot_tile<Cpu, 1, 1>(&a, &b, dim, 1, &dot);
  return dot;
}

// -------------------------------------------------------------------------------------------------- weighted_moments

template <typename Cpu, int kSums>
PROTOCOM_INLINE void moments_tile(const WeightedMoments& task, int64_t first, float* sum, float* sum_squares) {
  using Vector = typename Cpu::Vector;
  for (int64_t d = 0; d < task.dim; d += kLanes<Cpu>) {
    Vector values[kSums] = {};
    Vector squares[kSums] = {};
    const float* weight = task.weights + first;
    for (int64_t i = 0; i < task.count; ++i, weight += task.n) {
      const Vector x = at<Cpu>(task.rows[i] + d).vector;
      const Vector square = x * x;
#pragma GCC unroll 16
      for (int r = 0; r < kSums; ++r) {
        values[r] += weight[r] * x;
        squares[r] += weight[r] * square;
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kSums; ++r) {
      at<Cpu>(sum + (first + r) * task.dim + d).vector = values[r];
      at<Cpu>(sum_squares + (first + r) * task.dim + d).vector = squares[r];
    }
  }
}

template <typename Cpu>
PROTOCOM_INLINE void moments_body(const WeightedMoments& task, float* sum, float* sum_squares) {
  int64_t first = 0;
  for (; first + Cpu::kSums <= task.n; first += Cpu::kSums)
    moments_tile<Cpu, Cpu::kSums>(task, first, sum, sum_squares);
  for (; first + 4 <= task.n; first += 4) moments_tile<Cpu, 4>(task, first, sum, sum_squares);
  for (; first < task.n; ++first) moments_tile<Cpu, 1>(task, first, sum, sum_squares);
}

// ------------------------------------------------------------------------------------------------------ sums_of_rows

template <typename Cpu, int kSums, int kVectors>
PROTOCOM_INLINE void row_sums_tile(const RowSums& task, int64_t first, int64_t d, float* sums) {
  using Vector = typename Cpu::Vector;
  Vector sum[kSums][kVectors] = {};
  const float* weight = task.weights + first * task.stride;
  for (int64_t i = 0; i < task.count; ++i) {
    const float* row = task.rows[i] + d;
    Vector x[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) x[v] = at<Cpu>(row + v * kLanes<Cpu>).vector;
#pragma GCC unroll 16
    for (int r = 0; r < kSums; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] += weight[r * task.stride + i] * x[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kSums; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) at<Cpu>(sums + (first + r) * task.dim + d + v * kLanes<Cpu>).vector = sum[r][v];
  }
}

template <typename Cpu, int kSums>
PROTOCOM_INLINE void row_sums_of(const RowSums& task, int64_t first, float* sums) {
  constexpr int64_t kVectors = kSums == 1 ? 8 : 2;  // sums enough for the time that one addition takes
  int64_t d = 0;
  for (; d + kVectors * kLanes<Cpu> <= task.dim; d += kVectors * kLanes<Cpu>)
    row_sums_tile<Cpu, kSums, kVectors>(task, first, d, sums);
  for (; d < task.dim; d += kLanes<Cpu>) row_sums_tile<Cpu, kSums, 1>(task, first, d, sums);
}

template <typename Cpu>
PROTOCOM_INLINE void row_sums_body(const RowSums& task, float* sums) {
  int64_t first = 0;
  for (; first + 5 <= task.n; first += 5) row_sums_of<Cpu, 5>(task, first, sums);
  for (; first + 4 <= task.n; first += 4) row_sums_of<Cpu, 4>(task, first, sums);
  for (; first < task.n; ++first) row_sums_of<Cpu, 1>(task, first, sums);
}

// ------------------------------------------------------------------------------------------------------ softmax_rows

template <typename Cpu>
PROTOCOM_INLINE void softmax_body(float* logits, int64_t count, int64_t n) {
  constexpr int64_t kStep = kLanes<Cpu>;
  for (int64_t i = 0; i < count; ++i) {
    float* row = logits + i * n;
    float most = row[0];
    for (int64_t j = 1; j < n; ++j) most = row[j] > most ? row[j] : most;
    for (int64_t j = 0; j < n; ++j) row[j] -= most;
  }
  const int64_t total = count * n;
  int64_t i = 0;
  for (; i + kStep <= total; i += kStep) exponentiate<Cpu>(logits + i);
  float rest[kStep] = {};
  for (int64_t k = i; k < total; ++k) rest[k - i] = logits[k];
  exponentiate<Cpu>(rest);
  for (int64_t k = i; k < total; ++k) logits[k] = rest[k - i];
  for (i = 0; i < count; ++i) {
    float* row = logits + i * n;
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += row[j];
    const float factor = 1.0F / sum;
    for (int64_t j = 0; j < n; ++j) row[j] *= factor;
  }
}

// ---------------------------------------------------------------------------------------------------------- fuse_row

template <typename Cpu>
PROTOCOM_INLINE void gaussian(const typename Cpu::Vector& sum, const typename Cpu::Vector& squares, float inverse,
                              float epsilon, typename Cpu::Vector& mean, typename Cpu::Vector& variance) {
  using Vector = typename Cpu::Vector;
  mean = sum * inverse;
  variance = squares * inverse - mean * mean;
  variance = variance < Vector{} ? Vector{} : variance;
  variance += epsilon;
}

template <typename Cpu>
PROTOCOM_INLINE void fuse_body(const FusedRow& task, float* fused) {
  using Vector = typename Cpu::Vector;
  const float inverse_a = 1.0F / task.total_a;
  const float inverse_b = 1.0F / task.total_b;
  for (int64_t d = 0; d < task.dim; d += kLanes<Cpu>) {
    Vector mean_a;
    Vector mean_b;
    Vector variance_a;
    Vector variance_b;
    const Vector sum = at<Cpu>(task.supports + d).vector;
    const Vector squares = at<Cpu>(task.support_squares + d).vector;
    gaussian<Cpu>(sum + at<Cpu>(task.sum_a + d).vector, squares + at<Cpu>(task.squares_a + d).vector, inverse_a,
                  task.epsilon, mean_a, variance_a);
    gaussian<Cpu>(sum + at<Cpu>(task.sum_b + d).vector, squares + at<Cpu>(task.squares_b + d).vector, inverse_b,
                  task.epsilon, mean_b, variance_b);
    at<Cpu>(fused + d).vector = (variance_a * mean_b + variance_b * mean_a) / (variance_a + variance_b);
  }
}

// -------------------------------------------------------------------------------------------------- transport_scales

/// Computes the row sums of the plan and returns their largest change since the last step; then scales the rows to 1.
template <typename Cpu>
PROTOCOM_INLINE float transport_rows(const Transport& task, const float* scales) {
  using Vector = typename Cpu::Vector;
  const Vector tiny = Vector{} + 1e-30F;
  Vector most = {};
  for (int64_t i = 0; i < task.stride; i += kLanes<Cpu>) {
    float* sums = task.work + i;
    float* row_scales = task.work + task.stride + i;
    Vector sum = {};
    for (int64_t k = 0; k < task.n; ++k) sum += scales[k] * at<Cpu>(task.kernel + k * task.stride + i).vector;
    const Vector now = at<Cpu>(row_scales).vector * sum;
    const Vector change = now - at<Cpu>(sums).vector;
    const Vector size = change < Vector{} ? -change : change;
    most = size > most ? size : most;
    at<Cpu>(sums).vector = now;
    at<Cpu>(row_scales).vector = 1.0F / (sum > tiny ? sum : tiny);
  }
  float largest = 0;
  for (int64_t lane = 0; lane < kLanes<Cpu>; ++lane) largest = most[lane] > largest ? most[lane] : largest;
  return largest;
}

template <typename Cpu>
PROTOCOM_INLINE void transport_body(const Transport& task, float* scales) {
  using Vector = typename Cpu::Vector;
  constexpr float kTiny = 1e-30F;
  for (int64_t i = 0; i < task.stride; ++i) {
    task.work[i] = 0;
    task.work[task.stride + i] = 1;
  }
  for (int64_t k = 0; k < task.n; ++k) scales[k] = 1;
  for (int64_t step = 0; step < task.most_steps; ++step) {
    if (transport_rows<Cpu>(task, scales) <= task.tolerance) return;
    for (int64_t k = 0; k < task.n; ++k) {
      Vector total = {};
      for (int64_t i = 0; i < task.stride; i += kLanes<Cpu>)
        total += at<Cpu>(task.kernel + k * task.stride + i).vector * at<Cpu>(task.work + task.stride + i).vector;
      const float sum = lane_sum(total);
      scales[k] = task.columns[k] / (sum > kTiny ? sum : kTiny);
    }
  }
}

}  // namespace

PROTOCOM_KERNEL(row_dots, void, (const RowDots& task, float* dots), dots_body<Cpu>, (task, dots))
PROTOCOM_KERNEL(products_of_rows, void, (const RowProducts& task, float* products), products_body<Cpu>,
                (task, products))
PROTOCOM_KERNEL(gram_of_rows, void, (const RowGram& task, float* gram), gram_body<Cpu>, (task, gram))
PROTOCOM_KERNEL(row_dot, float, (const float* a, const float* b, int64_t dim), dot_body<Cpu>, (a, b, dim))
PROTOCOM_KERNEL(weighted_moments, void, (const WeightedMoments& task, float* sum, float* sum_squares),
                moments_body<Cpu>, (task, sum, sum_squares))
PROTOCOM_KERNEL(sums_of_rows, void, (const RowSums& task, float* sums), row_sums_body<Cpu>, (task, sums))
PROTOCOM_KERNEL(softmax_rows, void, (float* logits, int64_t count, int64_t n), softmax_body<Cpu>, (logits, count, n))
PROTOCOM_KERNEL(fuse_row, void, (const FusedRow& task, float* fused), fuse_body<Cpu>, (task, fused))
PROTOCOM_KERNEL(transport_scales, void, (const Transport& task, float* scales), transport_body<Cpu>, (task, scales))

}  // namespace protocom
