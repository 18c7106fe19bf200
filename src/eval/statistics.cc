#include "eval/statistics.h"

#include <cmath>
#include <numeric>

#include "base/error.h"

namespace protocom {

Estimate estimate(const std::vector<double>& values) {
  if (values.empty()) fail("a mean and its interval need at least one value, found none");
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean, 0};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, 1.96 * std::sqrt(squares / (n - 1) / n)};
}

Estimate paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size())
    fail("a paired difference needs values of the same episodes, found {} and {}", a.size(), b.size());
  std::vector<double> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  return estimate(differences);
}

}  // namespace protocom
