#pragma once
#include <cstdint>
#include <vector>

#include "base/array.h"

namespace protocom::text {

/// A network from tokens to vectors.
class Tower {
 public:
  Tower() = default;
  Tower(const Tower&) = delete;
  Tower& operator=(const Tower&) = delete;
  virtual ~Tower() = default;

  /// Computes the vectors of `texts` texts of the same length, 1 <= length <= longest(), whose tokens are concatenated:
  /// ids [texts, length] -> float32 [texts, dim()].
  [[nodiscard]] virtual Array vectors(const std::vector<int64_t>& ids, int64_t texts) const = 0;
  /// The most tokens of a text.
  [[nodiscard]] virtual int64_t longest() const = 0;
  /// The size of its vocabulary: token numbers are below it.
  [[nodiscard]] virtual int64_t vocabulary() const = 0;
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// Whether vectors are in the space of an image tower.
  [[nodiscard]] virtual bool compares_with_images() const = 0;
};

}  // namespace protocom::text
