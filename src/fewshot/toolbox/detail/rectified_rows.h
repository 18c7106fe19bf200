#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {

/// The prototypes of BD-CSPN (Liu, Song, Qin, ECCV 2020): unlabelled images, moved by the difference between
/// the supports' and their own mean, join the supports under pseudo-labels, each with a weight w by its cosine to the
/// class means. Variants:
///   mean  every point goes to its nearest class mean by cosine; w = softmax over classes of scale * cosine; the
///         prototype is the sum of w x over the number of points (Veilleux et al., NeurIPS 2021, with scale 10)
///   sum   supports keep their labels; w = exp(scale * cosine); the prototype is the sum of w x over the sum of w
///         (equations 9 and 10 of the paper; Bennequin's easyfsl with scale 1)
struct RectifyOptions {
  std::string variant = "mean";
  double scale = 10;
  /// Moves them back by that difference, to where they lie among the unshifted unlabelled images.
  bool moved_back = false;
};

/// Inputs of rectified prototypes from a task's points: products with the class means and with the shift, the
/// difference between the supports' mean and the unlabelled images'.
struct RectifyProducts {
  int64_t stride = 0;
  const float* with_means = nullptr;  ///< [n, stride], class by class
  const float* with_shift = nullptr;  ///< [s + u]
  Floats mean_squares;                ///< [n], squared lengths of the means
  Floats mean_shifts;                 ///< [n], products of the means with the shift
  float shift_square = 0;

  /// Sets all but the values of the means, which are added one by one, reusing memory.
  void begin(int64_t width, const float* means, const float* shift, float square) {
    stride = width;
    with_means = means;
    with_shift = shift;
    shift_square = square;
    mean_squares.clear();
    mean_shifts.clear();
  }
};

/// Which points join a class, and with what weights: a prototype is the weighted sum of its members plus `moved` times
/// the shift. One per thread.
class RectifiedMembers {
 public:
  explicit RectifiedMembers(RectifyOptions options) : options_(std::move(options)) {}

  void place(const Task& task, const RectifyProducts& products);

  [[nodiscard]] int64_t class_of(int64_t i) const { return nearest_[static_cast<size_t>(i)]; }
  [[nodiscard]] float weight(int64_t i) const { return weights_[static_cast<size_t>(i)]; }
  /// Returns whether the class has members; if not, the prototype is the mean of the supports.
  [[nodiscard]] bool has_any(int64_t k) const { return totals_[static_cast<size_t>(k)] > 0; }
  /// Returns the factor of the shift, less 1 with RectifyOptions::moved_back.
  [[nodiscard]] float moved(int64_t k) const { return moved_[static_cast<size_t>(k)]; }

 private:
  void compute_cosines(const Task& task, const RectifyProducts& products);
  void compute_weights(const Task& task, int64_t stride);

  RectifyOptions options_;
  Floats factors_, most_;         // [stride], of each point
  Floats cosines_, shares_;       // [n, stride]
  std::vector<int32_t> nearest_;  // [s + u], class of each point
  Floats weights_;                // [s + u]
  Floats totals_, moved_;         // [n]
};

/// Rectified prototypes of one task after the other. One per thread.
class RectifiedRows {
 public:
  explicit RectifiedRows(RectifyOptions options) : members_(std::move(options)) {}

  /// Returns [n, dim]; valid until the next call.
  const Floats& place(const Task& task);

 private:
  void compute_products(const Task& task);
  void compute_sums(const Task& task);

  RectifiedMembers members_;
  RectifyProducts products_;
  Floats means_;                    // [n, dim]
  Floats shift_, other_mean_;       // [dim], the second is the mean of the unlabelled images
  Floats dots_, by_class_;          // [s + u, n] and [n, stride]
  Floats shift_dots_;               // [s + u]
  std::vector<const float*> rows_;  // class by class
  Floats row_weights_;
  std::vector<int64_t> first_;  // [n + 1], of each class's rows
  Floats prototypes_;           // [n, dim]
};

/// Rectified prototypes as coefficients of the points, if their Gram matrix is available.
class RectifiedSpan {
 public:
  explicit RectifiedSpan(RectifyOptions options) : members_(std::move(options)) {}

  /// Returns [n, span.stride()]; `means` [n, stride] are the coefficients of the class means.
  const Floats& place(const Task& task, RowSpan& span, const Floats& means);

 private:
  RectifiedMembers members_;
  RectifyProducts products_;
  Floats combinations_;  // [n + 1, stride], the means and the shift
  Floats dots_;          // [n + 1, stride]
  Floats prototypes_;    // [n, stride]
};

}  // namespace protocom
