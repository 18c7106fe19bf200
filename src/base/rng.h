#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace protocom {

/// A small random number generator (xoshiro256**, Blackman & Vigna 2018, seeded by splitmix64) whose draws are
/// identical to the last bit on every platform with IEEE 754 doubles and with every library version, which neither
/// `std::` distributions nor the functions of <cmath> guarantee. Not thread-safe: fork one per thread.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  /// Returns the next 64 random bits.
  uint64_t next();
  /// Draws uniformly from [0, bound), without bias. Requires bound > 0.
  int64_t below(int64_t bound);
  /// Draws uniformly from [0, 1).
  double uniform();
  /// Draws uniformly from [low, high).
  double uniform(double low, double high);
  /// Draws from the standard normal: sqrt(-2 log(1 - u)) cos(2 pi v) of two uniform draws (Box & Muller 1958), by
  /// portable_math.h.
  double normal();
  /// Draws from Gamma(shape, 1): Marsaglia & Tsang 2000, "A simple method for generating gamma variables". Requires
  /// shape > 0.
  double gamma(double shape);
  /// Draws `count` distinct values of [0, bound) in random order. Requires count <= bound.
  std::vector<int64_t> sample(int64_t bound, int64_t count);
  /// Returns an independent generator that depends only on this one's seed and `stream`, not on the draws made so far.
  [[nodiscard]] Rng fork(uint64_t stream) const;

  /// Seed and position, for a checkpoint.
  using State = std::array<uint64_t, 5>;
  [[nodiscard]] State state() const;
  /// Returns a generator that continues from `state`.
  static Rng from_state(const State& state);

 private:
  uint64_t seed_;
  uint64_t state_[4];
};

}  // namespace protocom
