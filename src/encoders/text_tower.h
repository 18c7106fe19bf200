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

  /// The vectors of `texts` texts of the same length, 1 <= length <= longest(), whose tokens stand behind one another:
  /// ids [texts, length] -> float32 [texts, dim()].
  [[nodiscard]] virtual Array vectors(const std::vector<int64_t>& ids, int64_t texts) const = 0;
  /// The most tokens of a text.
  [[nodiscard]] virtual int64_t longest() const = 0;
  /// The size of its vocabulary: tokens are the numbers below.
  [[nodiscard]] virtual int64_t vocabulary() const = 0;
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// Whether vectors lie in the space of an image tower's.
  [[nodiscard]] virtual bool compares_with_images() const = 0;
};

}  // namespace protocom::text
