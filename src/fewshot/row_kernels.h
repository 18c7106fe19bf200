#pragma once
#include <cstdint>

#include "fewshot/row_length.h"

/// The inner loops of an episode, on plain rows of float32 and without memory of their own: the fast form of the
/// formulas in heads/cosine_classifier.h and heads/gauss_fusion.h, which stay the reference, in the form of
/// vector_form.h. Every output is summed in one fixed order, whatever its neighbours are: results depend neither on
/// threads nor on how rows are grouped. All are thread-safe.
namespace protocom {

/// dots[i * stride + j] = rows[i] . prototypes[j], for `count` rows and `n` prototypes (contiguous, [n, dim]).
struct RowDots {
  const float* const* rows = nullptr;  ///< [count] pointers to [dim]
  int64_t count = 0;
  const float* prototypes = nullptr;  ///< [n, dim]
  int64_t n = 0;
  int64_t dim = 0;     ///< a multiple of kRowMultiple
  int64_t stride = 0;  ///< of `dots`, at least n
};
void row_dots(const RowDots& task, float* dots);

/// products[i * stride + j] = rows[i] . columns[j]; the columns may lie anywhere.
struct RowProducts {
  const float* const* rows = nullptr;  ///< [count] pointers to [dim]
  int64_t count = 0;
  const float* const* columns = nullptr;  ///< [n] pointers to [dim]
  int64_t n = 0;
  int64_t dim = 0;     ///< a multiple of kRowMultiple
  int64_t stride = 0;  ///< of the products, at least n
};
void products_of_rows(const RowProducts& task, float* products);

/// Writes (from - centre) / |from - centre| to `out`, [dim]; zeros stay zeros.
void unit_row(const float* from, const float* centre, int64_t dim, float* out);

/// gram[i * stride + j] = rows[i] . rows[j] for all pairs of `count` rows.
struct RowGram {
  const float* const* rows = nullptr;  ///< [count] pointers to [dim]
  int64_t count = 0;
  int64_t dim = 0;     ///< a multiple of kRowMultiple
  int64_t stride = 0;  ///< of the products, at least `count`
};
void gram_of_rows(const RowGram& task, float* gram);

/// Returns the dot product of two rows.
float row_dot(const float* a, const float* b, int64_t dim);

/// sum[r] = sum_i w[i, r] x_i and sum_squares[r] = sum_i w[i, r] x_i^2 (element-wise squares): the part of the
/// numerators of equations 13 and 14 that comes from the supports, or from the queries.
struct WeightedMoments {
  const float* const* rows = nullptr;  ///< x: [count] pointers to [dim]
  int64_t count = 0;
  const float* weights = nullptr;  ///< w, [count, n]
  int64_t n = 0;
  int64_t dim = 0;  ///< a multiple of kRowMultiple
};
void weighted_moments(const WeightedMoments& task, float* sum, float* sum_squares);

/// sums[r] = sum_i w[r, i] x_i, for `n` sums of `count` rows.
struct RowSums {
  const float* const* rows = nullptr;  ///< x: [count] pointers to [dim]
  int64_t count = 0;
  const float* weights = nullptr;  ///< w, [n, stride]
  int64_t n = 0;
  int64_t stride = 0;  ///< of the weights, at least `count`
  int64_t dim = 0;     ///< a multiple of kRowMultiple
};
void sums_of_rows(const RowSums& task, float* sums);

/// Replaces each of `count` contiguous rows of `n` logits by its softmax.
void softmax_rows(float* logits, int64_t count, int64_t n);

/// The Gaussians of one class as sums, to be fused (see posterior_mean).
struct FusedRow {
  const float* supports = nullptr;         ///< [dim], one part of both sums
  const float* support_squares = nullptr;  ///< [dim]
  const float* sum_a = nullptr;            ///< [dim], the other part; together with the supports its weight is total_a
  const float* squares_a = nullptr;        ///< [dim]
  float total_a = 0;
  const float* sum_b = nullptr;
  const float* squares_b = nullptr;
  float total_b = 0;
  float epsilon = 0;
  int64_t dim = 0;  ///< a multiple of kRowMultiple
};
void fuse_row(const FusedRow& task, float* fused);

/// out[r, j] = bias[j] + sum_k in[r, k] weight[k, j] for `rows` rows: one linear layer.
struct DenseRows {
  const float* in = nullptr;  ///< [rows, in_stride]
  int64_t in_stride = 0;      ///< at least `depth`
  int64_t rows = 0;
  int64_t depth = 0;              ///< inputs of the layer
  const float* panels = nullptr;  ///< the weight, [width / kPanelWidth rounded up, depth, kPanelWidth]
  const float* bias = nullptr;    ///< [width]
  int64_t width = 0;              ///< outputs, a multiple of kRowMultiple
};
void dense_rows(const DenseRows& task, float* out);

/// Number of a layer's outputs that dense_rows computes together.
inline constexpr int64_t kPanelWidth = 32;

/// Returns sum_i w[i] max(a[i] + b[i], 0): the score of one (prototype, attribute) pair (equation 10).
float relu_dot(const float* a, const float* b, const float* w, int64_t dim);

/// Returns the second smallest of `count` values, a multiple of kRowMultiple; the smallest if it occurs twice.
float second_smallest(const float* values, int64_t count);

/// out += factor * row.
void add_scaled_row(float factor, const float* row, int64_t dim, float* out);

/// Column scales of one transport plan by the steps of Sinkhorn and Knopp: rows to 1, columns to their mass, until no
/// row's sum changes by more than `tolerance`.
struct Transport {
  const float* kernel = nullptr;   ///< [n, stride], column by column; rows that take no part are zeros
  int64_t n = 0;                   ///< columns
  int64_t stride = 0;              ///< rows, a multiple of kRowMultiple
  const float* columns = nullptr;  ///< [n], their mass
  float tolerance = 0;
  int64_t most_steps = 0;
  float* work = nullptr;  ///< [2 * stride]
};
void transport_scales(const Transport& task, float* scales);

}  // namespace protocom
