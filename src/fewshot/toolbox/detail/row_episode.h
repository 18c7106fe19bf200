#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fewshot/toolbox/detail/floats.h"

namespace protocom {

/// One episode as rows of a table, where they lie: the supports class by class, the unlabelled images (the queries, or
/// the pool in their place), and after a pool the queries. As EpisodePoints, but without room for absent supports.
struct RowEpisode {
  int64_t n = 0;    ///< classes
  int64_t dim = 0;  ///< of the rows, a multiple of kRowMultiple (row_kernels.h)
  int64_t unlabelled = 0;
  int64_t queries = 0;
  std::vector<int64_t> label;      ///< of each support, in [0, n); every class has one
  std::vector<const float*> rows;  ///< [m]
  Floats squares;                  ///< [m], the rows' squared lengths

  [[nodiscard]] int64_t supports() const { return static_cast<int64_t>(label.size()); }
  [[nodiscard]] int64_t points() const { return static_cast<int64_t>(rows.size()); }
  /// Supports and unlabelled images, which lie first.
  [[nodiscard]] int64_t learned() const { return supports() + unlabelled; }
  [[nodiscard]] int64_t first_query() const { return points() - queries; }
};

/// A method's answers to one episode after the other, in memory that it keeps: the hand-made form of a scorer.
class RowRun {
 public:
  RowRun() = default;
  virtual ~RowRun() = default;
  RowRun(const RowRun&) = delete;
  RowRun& operator=(const RowRun&) = delete;
  /// Logits [q, n] of the queries.
  virtual void answer(const RowEpisode& episode, float* logits) = 0;
};

using MakeRowRun = std::function<std::unique_ptr<RowRun>()>;

/// The mean of each class's supports, [n, dim].
void place_class_means(const RowEpisode& episode, Floats& means);

/// The same as coefficients of the points, [n, stride].
void place_mean_coefficients(const RowEpisode& episode, int64_t stride, Floats& means);

/// Sum of the rows [begin, end) over their number, [dim].
void place_mean(const RowEpisode& episode, int64_t begin, int64_t end, Floats& mean);

/// -|x - p|^2, at most 0, of `count` rows from `first` on and vectors [n, dim]: [count, n].
void place_negative_distances(const RowEpisode& episode, int64_t first, int64_t count, const Floats& vectors,
                              float* out);

/// Cosines of `count` rows from `first` on with vectors [n, dim]: [count, n].
void place_cosines(const RowEpisode& episode, int64_t first, int64_t count, const Floats& vectors, float* out);

/// 1 / max(length, 1e-12) of a vector whose squared length is `square`.
inline float inverse_root(float square) {
  constexpr float kTiny = 1e-12F;
  return 1 / std::max(std::sqrt(std::max(square, 0.0F)), kTiny);
}

/// Makes room.
void grow(Floats& values, int64_t size);

}  // namespace protocom
