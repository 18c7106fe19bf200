#include "protocom/eval/statistics.h"

#include <cmath>
#include <numeric>

#include "protocom/core/check.h"

namespace protocom {

Estimate estimate(const std::vector<double>& values) {
  PROTOCOM_CHECK(!values.empty());
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean, 0};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, 1.96 * std::sqrt(squares / (n - 1) / n)};
}

Estimate paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  PROTOCOM_CHECK(a.size() == b.size());
  std::vector<double> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  return estimate(differences);
}

}  // namespace protocom
