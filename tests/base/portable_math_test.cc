#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace protocom {
namespace {

struct Value {
  double argument;
  double expected;
};

/// Returns the distance of a result from the value that mpmath rounds to (tests/golden/draws.py), in units in the last
/// place.
double distance(double found, double expected) {
  if (found == expected) return 0;
  return std::abs(found - expected) / (std::nextafter(std::abs(expected), INFINITY) - std::abs(expected));
}

TEST(PortableMath, GivesLogarithms) {
  const std::vector<Value> values = {{0x1p-53, -0x1.25e4f7b2737fap+5},
                                     {0x1.56e1fc2f8f359p-997, -0x1.5963447f87fb5p+9},
                                     {0.25, -0x1.62e42fefa39efp+0},
                                     {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},
                                     {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
                                     {0x1.fffffffffffffp-1, -0x1p-53},
                                     {0x1.6a09e667f3bcdp+0, 0x1.62e42fefa39f0p-2},
                                     {3, 0x1.193ea7aad030bp+0},
                                     {0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9}};
  for (const auto& [x, expected] : values) EXPECT_LE(distance(portable_log(x), expected), 1) << x;
  EXPECT_EQ(portable_log(1), 0);
}

TEST(PortableMath, GivesPowersOfE) {
  const std::vector<Value> values = {{-700.5, 0x1.4ff475c68ca02p-1011},
                                     {-1, 0x1.78b56362cef38p-2},
                                     {-0x1.12e0be826d695p-30, 0x1.fffffff768fa1p-1},
                                     {0x1.62e42fefa39efp-2, 0x1.6a09e667f3bccp+0},
                                     {1, 0x1.5bf0a8b145769p+1},
                                     {2.5, 0x1.85d6fd931e0bbp+3},
                                     {700.5, 0x1.8625c7d4f56c2p+1010}};
  for (const auto& [x, expected] : values) EXPECT_LE(distance(portable_exp(x), expected), 1) << x;
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-745), 0x1p-1074);  // the smallest positive number
  EXPECT_EQ(portable_exp(-1e300), 0);
  EXPECT_EQ(portable_exp(1e300), std::numeric_limits<double>::infinity());
}

TEST(PortableMath, GivesCosinesOfTurns) {
  const std::vector<Value> values = {{0x1.12e0be826d695p-30, 1},
                                     {0.1, 0x1.9e3779b97f4a8p-1},
                                     {0.125, 0x1.6a09e667f3bcdp-1},
                                     {0x1.fffffea86711ep-3, 0x1.0ddc5a5eea451p-24},
                                     {0.3, -0x1.3c6ef372fe94ep-2},
                                     {0.7, -0x1.3c6ef372fe954p-2},
                                     {0x1.80000055e63b9p-1, 0x1.0ddc5a780c406p-24},
                                     {0.9, 0x1.9e3779b97f4a8p-1}};
  for (const auto& [u, expected] : values) EXPECT_LE(distance(portable_cos_of_turns(u), expected), 2) << u;
  EXPECT_EQ(portable_cos_of_turns(0), 1);
  EXPECT_EQ(portable_cos_of_turns(0.25), 0);
  EXPECT_EQ(portable_cos_of_turns(0.5), -1);
  EXPECT_EQ(portable_cos_of_turns(0.75), 0);
  EXPECT_EQ(portable_cos_of_turns(1), 1);
}

}  // namespace
}  // namespace protocom
