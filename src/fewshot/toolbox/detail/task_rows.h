#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fewshot/floats.h"
#include "fewshot/task.h"

namespace protocom {

/// The mean of each class's supports, [n, dim].
void compute_class_means(const Task& task, Floats& means);

/// The same as coefficients of the points, [n, stride].
void compute_mean_coefficients(const Task& task, int64_t stride, Floats& means);

/// Sum of the rows [begin, end) over their number, [dim].
void compute_mean(const Task& task, int64_t begin, int64_t end, Floats& mean);

/// -|x - p|^2, at most 0, of `count` rows from `first` on and vectors [n, dim]: [count, n].
void compute_negative_distances(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out);

/// Cosines of `count` rows from `first` on with vectors [n, dim]: [count, n].
void compute_cosines(const Task& task, int64_t first, int64_t count, const Floats& vectors, float* out);

/// Multiplies logits [q, n].
void scale_logits(const Task& task, double factor, float* logits);

/// Products of the queries with the supports, [q, s].
void compute_products_with_supports(const Task& task, Floats& out);

/// 1 / max(length, 1e-12) of a vector whose squared length is `square`.
inline float inverse_root(float square) {
  constexpr float kTiny = 1e-12F;
  return 1 / std::max(std::sqrt(std::max(square, 0.0F)), kTiny);
}

/// 1 at the class of each support, else 0, class by class: [n, stride].
void compute_labels(const Task& task, int64_t stride, Floats& labels);

/// The share of each image in each class, [n, stride]: the supports by `labels` [n, stride] and the unlabelled images
/// by `shares`, of which class k has [u] from k * shares_stride on; zeros for the rest.
void compute_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride, int64_t stride,
                    Floats& out);

/// Class means as coefficients of the points [n, stride]: of the supports by `labels` [n, stride] and of the unlabelled
/// images by `shares`, of which class k has [u] from k * shares_stride on.
void compute_means_of_shares(const Task& task, const Floats& labels, const float* shares, int64_t shares_stride,
                             int64_t stride, Floats& means);

/// means += rate (next - means).
void step_towards(const Floats& next, double rate, Floats& means);

/// Logits [q, n] of the queries from those of all points, class by class [n, stride].
void compute_logits_of_queries(const Task& task, const Floats& of_points, int64_t stride, float* logits);

/// Supports of the class that has most.
int64_t most_shots(const Task& task);

/// Makes room.
void grow(Floats& values, int64_t size);

}  // namespace protocom
