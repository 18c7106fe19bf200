#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fewshot/floats.h"
#include "fewshot/task.h"

namespace protocom {

/// Computes the mean of each class's supports, [n, dim].
void compute_class_means(const Task& task, Floats& means);

/// Computes the class means as coefficients of the points, [n, stride].
void compute_mean_coefficients(const Task& task, int64_t stride, Floats& means);

/// Computes the mean of the rows [begin, end), [dim].
void compute_mean(const Task& task, int64_t begin, int64_t end, Floats& mean);

/// Computes -|x - p|^2, at most 0, of `count` rows from `first` on and vectors [n, dim]: [count, n].
void compute_negative_distances(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out);

/// Computes the cosines of `count` rows from `first` on with vectors [n, dim]: [count, n].
void compute_cosines(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out);

/// Multiplies logits [q, n] by the factor.
void scale_logits(const Task& task, double factor, float* logits);

/// Computes the products of the queries with the supports, [q, s].
void compute_products_with_supports(const Task& task, Floats& out);

/// Returns 1 / max(length, 1e-12) of a vector whose squared length is `square`.
inline float inverse_root(float square) {
  constexpr float kTiny = 1e-12F;
  return 1 / std::max(std::sqrt(std::max(square, 0.0F)), kTiny);
}

/// Computes 1 at the class of each support, else 0, class by class: [n, stride].
void compute_labels(const Task& task, int64_t stride, Floats& labels);

/// Computes the share of each image in each class, [n, stride]: from `labels` [n, stride] for the supports and from
/// `shares` for the unlabelled images, with the [u] of class k from k * shares_stride on; zeros for the rest.
void compute_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride, int64_t stride,
                    Floats& out);

/// Computes class means as coefficients of the points [n, stride]: from `labels` [n, stride] for the supports and from
/// `shares` for the unlabelled images, with the [u] of class k from k * shares_stride on.
void compute_means_of_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride,
                             int64_t stride, Floats& means);

/// means += rate (next - means).
void step_towards(const Floats& next, double rate, Floats& means);

/// Computes the logits [q, n] of the queries from those of all points, class by class [n, stride].
void compute_logits_of_queries(const Task& task, const Floats& of_points, int64_t stride, float* logits);

/// Returns the number of supports of the class that has the most.
int64_t most_shots(const Task& task);

/// Resizes `values` to at least `size`.
void grow(Floats& values, int64_t size);

}  // namespace protocom
