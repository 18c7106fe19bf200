#include "eval/shares.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace protocom {
namespace {

constexpr double kNormal = 1.959963984540054;  // 97.5 % quantile of the standard normal

}  // namespace

ShareInterval share_interval(int64_t successes, int64_t n) {
  if (n < 1) fail("the interval of a share needs at least one trial, found {}", n);
  const auto trials = static_cast<double>(n);
  const double share = static_cast<double>(successes) / trials;
  const double square = kNormal * kNormal;
  const double middle = share + square / (2 * trials);
  const double half = kNormal * std::sqrt(share * (1 - share) / trials + square / (4 * trials * trials));
  const double scale = 1 + square / trials;
  return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

ShareInterval paired_interval(const PairedCounts& counts) {
  if (counts.n < 1) fail("a paired difference needs at least one image, found {}", counts.n);
  const double n = static_cast<double>(counts.n) + 2;
  const double first = static_cast<double>(counts.first_only) + 0.5;
  const double second = static_cast<double>(counts.second_only) + 0.5;
  const double difference = (second - first) / n;
  const double half = kNormal * std::sqrt((first + second) / n - difference * difference) / std::sqrt(n);
  return {std::max(-1.0, difference - half), std::min(1.0, difference + half)};
}

double mcnemar_p_value(const PairedCounts& counts) {
  const auto n = static_cast<double>(counts.first_only + counts.second_only);
  double tail = 0;
  for (int64_t k = 0; k <= std::min(counts.first_only, counts.second_only); ++k) {
    const auto few = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(few + 1) - std::lgamma(n - few + 1) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace protocom
