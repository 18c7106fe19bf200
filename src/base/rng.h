#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace protocom {

/// A small random generator (xoshiro256**, Blackman & Vigna 2018, seeded by splitmix64) whose draws are the same to
/// the last bit on every platform with IEEE 754 doubles and with every library version, which neither `std::`
/// distributions nor the functions of <cmath> promise. Not thread-safe: fork one per thread.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  /// The next 64 random bits.
  uint64_t next();
  /// Uniform in [0, bound), without bias. Requires bound > 0.
  int64_t below(int64_t bound);
  /// Uniform in [0, 1).
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high);
  /// Standard normal: sqrt(-2 log(1 - u)) cos(2 pi v) of two uniform draws (Box & Muller 1958), by portable_math.h.
  double normal();
  /// Gamma(shape, 1): Marsaglia & Tsang 2000, "A simple method for generating gamma variables". Requires shape > 0.
  double gamma(double shape);
  /// `count` distinct values of [0, bound) in random order. Requires count <= bound.
  std::vector<int64_t> sample(int64_t bound, int64_t count);
  /// An independent generator that depends on this one's seed and `stream` only, not on the draws made so far.
  [[nodiscard]] Rng fork(uint64_t stream) const;

  /// Seed and position, for a checkpoint.
  using State = std::array<uint64_t, 5>;
  [[nodiscard]] State state() const;
  /// A generator that continues from `state`.
  static Rng from_state(const State& state);

 private:
  uint64_t seed_;
  uint64_t state_[4];
};

}  // namespace protocom
