#include "base/rng.h"

#include <cmath>
#include <unordered_map>

#include "base/check.h"
#include "base/portable_math.h"

namespace protocom {
namespace {

uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

uint64_t rotate_left(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }

}  // namespace

Rng::Rng(uint64_t seed) : seed_(seed) {
  uint64_t mixer = seed;
  for (auto& word : state_) word = splitmix64(mixer);
}

uint64_t Rng::next() {
  const uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

int64_t Rng::below(int64_t bound) {
  PROTOCOM_CHECK(bound > 0);
  const auto range = static_cast<uint64_t>(bound);
  const uint64_t threshold = (0 - range) % range;  // draws below it would favour small values
  uint64_t draw = next();
  while (draw < threshold) draw = next();
  return static_cast<int64_t>(draw % range);
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::uniform(double low, double high) { return low + (high - low) * uniform(); }

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * portable_log(1.0 - uniform()));
  return radius * portable_cos_of_turns(uniform());
}

double Rng::gamma(double shape) {
  PROTOCOM_CHECK(shape > 0);
  if (shape < 1) {
    const double larger = gamma(shape + 1);
    return larger * portable_exp(portable_log(1.0 - uniform()) / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    const double v = root * root * root;
    if (v <= 0) continue;
    if (portable_log(1.0 - uniform()) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

std::vector<int64_t> Rng::sample(int64_t bound, int64_t count) {
  PROTOCOM_CHECK(count >= 0 && count <= bound);
  // Fisher-Yates on a virtual [0, bound): only moved places are stored, so a small sample of a large range is cheap.
  std::unordered_map<int64_t, int64_t> moved;
  std::vector<int64_t> drawn(static_cast<size_t>(count));
  const auto at = [&](int64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = i + below(bound - i);
    drawn[static_cast<size_t>(i)] = at(place);
    moved[place] = at(i);
  }
  return drawn;
}

Rng::State Rng::state() const { return {seed_, state_[0], state_[1], state_[2], state_[3]}; }

Rng Rng::from_state(const State& state) {
  Rng rng(state[0]);
  for (size_t i = 0; i < 4; ++i) rng.state_[i] = state[i + 1];
  return rng;
}

Rng Rng::fork(uint64_t stream) const {
  uint64_t mixer = seed_ ^ 0xd1b54a32d192ed03ULL;
  const uint64_t first = splitmix64(mixer);
  mixer = first ^ stream;
  return Rng(splitmix64(mixer));
}

}  // namespace protocom
