#include "base/portable_math.h"

#include <cfloat>
#include <cmath>
#include <limits>

namespace protocom {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "random draws are the same everywhere only where a double is computed as a double of IEEE 754");

// log(2) as a sum: the first part has 21 trailing zero bits, so that its product with an exponent is exact.
constexpr double kLog2High = 0x1.62e42feep-1;
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;

/// Returns sin(x) on [-pi/4, pi/4].
double sine(double x) {
  const double square = x * x;
  double sum = 0;
  for (int i = 16; i >= 2; i -= 2) sum = (1 - sum) * square / (i * (i + 1));  // x^3/3! - x^5/5! + ..., over x
  return x - x * sum;
}

/// Returns cos(x) on [-pi/4, pi/4].
double cosine(double x) {
  const double square = x * x;
  double sum = 0;
  for (int i = 15; i >= 3; i -= 2) sum = (1 - sum) * square / (i * (i + 1));  // x^4/4! - x^6/6! + ..., over x^2/2
  const double half = 0.5 * square;
  return 1 - (half - half * sum);
}

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);  // [1/2, 1)
  if (fraction < 0x1.6a09e667f3bcdp-1) {       // sqrt(1/2)
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double s = f / (2 + f);
  const double square = s * s;
  double series = 0;  // 2 s^2/3 + 2 s^4/5 + ...
  for (int i = 21; i >= 3; i -= 2) series = square * (2.0 / i + series);
  // 2 s = f - s f, and k log(2) + f is the large part: the small terms are added first.
  const double k = exponent;
  return k * kLog2High - ((s * (f - series) - k * kLog2Low) - f);
}

double portable_exp(double x) {
  constexpr double kSmallest = -746;
  constexpr double kLargest = 710;
  if (x < kSmallest) return 0;
  if (x > kLargest) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x * 0x1.71547652b82fep+0 + 0.5);  // 1 / log(2)
  const double high = x - k * kLog2High;                        // exact
  const double low = k * kLog2Low;
  const double r = high - low;
  double series = 1;  // 1 + r/3 + r^2/12 + ...; e^r is 1 + r + r^2/2 times it
  for (int i = 15; i >= 3; --i) series = 1 + r / i * series;
  // Adds the rounding error of r.
  const double rest = (high - r) - low;
  return std::ldexp(1 + (r + (0.5 * r * r * series + rest)), static_cast<int>(k));
}

double portable_cos_of_turns(double u) {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  const double quarters = std::floor(4 * u + 0.5);  // 0 to 4
  const double angle = (4 * u - quarters) * kHalfPi;
  switch (static_cast<int>(quarters)) {
    case 1:
      return -sine(angle);
    case 2:
      return -cosine(angle);
    case 3:
      return sine(angle);
    default:
      return cosine(angle);
  }
}

}  // namespace protocom
