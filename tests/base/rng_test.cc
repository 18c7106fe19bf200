#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace protocom {
namespace {

using ::testing::ElementsAre;

// The expected values come from a separate Python program with the algorithm of
// https://prng.di.unimi.it/xoshiro256starstar.c, whose state is the first four outputs of
// https://prng.di.unimi.it/splitmix64.c for the seed. That program's splitmix64 was held against the published outputs
// for the seed 1234567: 6457827717110365317, 3203168211198807973, ...
//
//   def splitmix(seed):
//       while True:
//           seed = (seed + 0x9e3779b97f4a7c15) & M; z = seed
//           z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & M; z = ((z ^ z >> 27) * 0x94d049bb133111eb) & M; yield z ^ z >>
//           31
//   def xoshiro(s):
//       while True:
//           yield rotl(s[1] * 5 & M, 7) * 9 & M; t = s[1] << 17 & M
//           s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = rotl(s[3], 45)
TEST(Rng, GivesTheOutputsOfThePublishedAlgorithm) {
  const auto first_four = [](uint64_t seed) {
    Rng rng(seed);
    return std::array<uint64_t, 4>{rng.next(), rng.next(), rng.next(), rng.next()};
  };
  EXPECT_THAT(first_four(1),
              ElementsAre(0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7));
  EXPECT_THAT(first_four(42),
              ElementsAre(0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1));
  EXPECT_THAT(first_four(UINT64_MAX),
              ElementsAre(0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f));
}

TEST(Rng, StillAgreesWithThePublishedAlgorithmAfterAThousandOutputs) {
  Rng rng(1);
  for (int i = 0; i < 999; ++i) rng.next();
  EXPECT_EQ(rng.next(), 0xb8517c33c344d153);
}

TEST(Rng, MakesOfTheUpper53BitsAUniformNumber) {
  Rng rng(1);
  EXPECT_DOUBLE_EQ(rng.uniform(), static_cast<double>(0xb3f2af6d0fc710c5) / 0x1p64);  // to the 53 bits of a double
  EXPECT_EQ(Rng(7).uniform(3, 3), 3);
}

TEST(Rng, StaysBelowTheBoundAndReachesEveryValueEquallyOften) {
  Rng rng(3);
  constexpr int kDraws = 60000;
  std::array<int, 6> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(static_cast<size_t>(rng.below(6)));
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - kDraws / 6.0, 2) / (kDraws / 6.0);
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom: exceeded by chance once in a thousand seeds
}

TEST(Rng, DoesNotFavourSmallValuesOfAHugeRange) {
  // 2^64 is 8/3 of the range: without rejection, its lower two thirds would get three draws for every two of the upper
  // third, 6/8 of all.
  constexpr int64_t kBound = int64_t{3} << 61;
  Rng rng(5);
  constexpr int kDraws = 20000;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t draw = rng.below(kBound);
    ASSERT_GE(draw, 0);
    ASSERT_LT(draw, kBound);
    if (draw < kBound / 3 * 2) ++low;
  }
  const double deviation = std::sqrt(kDraws * 2.0 / 9.0);
  EXPECT_NEAR(low, kDraws * 2.0 / 3.0, 4 * deviation);
}

TEST(Rng, HasOnlyZeroBelowOne) {
  Rng rng(9);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rng.below(1), 0);
}

TEST(Rng, SamplesDistinctValuesOfTheRange) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto drawn = Rng(seed).sample(1'000'000'000'000, 30);
    EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()).size(), 30u);
    EXPECT_GE(*std::min_element(drawn.begin(), drawn.end()), 0);
    EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), 1'000'000'000'000);
  }
}

TEST(Rng, SamplesAllOfARangeAsAPermutation) {
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  const auto drawn = Rng(11).sample(100, 100);
  EXPECT_NE(drawn, all);
  EXPECT_THAT(drawn, ::testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(Rng(11).sample(5, 0), ::testing::IsEmpty());
}

TEST(Rng, SamplesEveryOrderedPairEquallyOften) {
  constexpr int kDraws = 24000;
  std::map<std::vector<int64_t>, int> counts;
  Rng rng(13);
  for (int i = 0; i < kDraws; ++i) ++counts[rng.sample(4, 2)];
  ASSERT_EQ(counts.size(), 12u);
  const double deviation = std::sqrt(kDraws / 12.0);
  for (const auto& [pair, count] : counts) EXPECT_NEAR(count, kDraws / 12.0, 5 * deviation) << pair[0] << pair[1];
}

TEST(Rng, ForksTheSameGeneratorWhateverWasDrawnBefore) {
  Rng fresh(17);
  Rng used(17);
  for (int i = 0; i < 123; ++i) used.next();
  Rng a = fresh.fork(4);
  Rng b = used.fork(4);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(Rng, ForksGeneratorsThatDifferByStreamAndSeedAndFromTheirParent) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Rng parent(seed);
    for (uint64_t stream = 0; stream < 30; ++stream) first.insert(parent.fork(stream).next());
    first.insert(parent.next());
  }
  EXPECT_EQ(first.size(), 30u * 31u);
}

TEST(Rng, DrawsAStandardNormal) {
  constexpr int kDraws = 100000;
  Rng rng(19);
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double draw = rng.normal();
    ASSERT_TRUE(std::isfinite(draw));
    sum += draw;
    squares += draw * draw;
    if (std::abs(draw) > 2) ++beyond_two;
  }
  // Four standard errors each: 1/sqrt(n) of the mean, sqrt(2/n) of the second moment, sqrt(p(1-p)/n) of the share
  // beyond two sigmas.
  EXPECT_NEAR(sum / kDraws, 0, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(1.0 * beyond_two / kDraws, 0.0455, 4 * std::sqrt(0.0455 * 0.9545 / kDraws));
}

// The expected values of these three come from tests/golden/draws.py.
TEST(Rng, DrawsTheNormalsOfBoxAndMuller) {
  const std::array<double, 6> expected = {-0x1.8b93b94e8cc62p+0, -0x1.037e69664d113p+0, 0x1.eaa5ec6ca9a27p-1,
                                          -0x1.2092bdfed5790p-2, -0x1.e7755e0a9a28bp+0, 0x1.1e9697034c793p+1};
  Rng rng(1);
  for (const double value : expected) EXPECT_NEAR(rng.normal(), value, 0x1p-51 * std::abs(value));
}

TEST(Rng, DrawsTheGammasOfMarsagliaAndTsang) {
  const std::map<double, std::array<double, 4>> expected = {
      {0.5, {0x1.63ff4c7de7abdp-4, 0x1.36e5ba640ca10p-5, 0x1.dd586776f8102p-3, 0x1.ead935facbefcp-1}},
      {2, {0x1.6690fcc9e93d6p-1, 0x1.3956ab590924bp-1, 0x1.7bc62608a6014p+0, 0x1.451afc2e8e5dcp+1}},
      {7.25, {0x1.2a6052d71d48dp+2, 0x1.1a2e95c1d96fcp+2, 0x1.a2501e7e6addap+2, 0x1.1233e8c0bd7f1p+3}}};
  for (const auto& [shape, values] : expected) {
    Rng rng(3);
    for (const double value : values) EXPECT_NEAR(rng.gamma(shape), value, 0x1p-50 * value) << shape;
  }
}

TEST(Rng, DrawsTheSameBitsEverywhere) {
  const auto bits_of = [](const auto& draw) {
    Rng rng(7);
    uint64_t all = 0;
    for (int i = 0; i < 1000; ++i) {
      const double value = draw(rng);
      uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      all ^= bits;
    }
    return all;
  };
  EXPECT_EQ(bits_of([](Rng& rng) { return rng.normal(); }), 0x800e38026f0612ca);
  EXPECT_EQ(bits_of([](Rng& rng) { return rng.gamma(0.5); }), 0x0121a75485edb0a4);
  EXPECT_EQ(bits_of([](Rng& rng) { return rng.gamma(2); }), 0x00477d9aa67a7093);
}

TEST(Rng, GoesOnFromASavedStateWithTheSameDrawsAndForks) {
  Rng rng(77);
  for (int i = 0; i < 13; ++i) rng.next();
  Rng other = Rng::from_state(rng.state());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(other.next(), rng.next());
  EXPECT_EQ(other.fork(3).next(), Rng(77).fork(3).next());
}

}  // namespace
}  // namespace protocom
