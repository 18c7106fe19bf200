#include "recognizer/class_sets.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace protocom {

double least_probability_for(std::vector<double> left_out, double coverage) {
  if (!(coverage > 0 && coverage < 1)) fail_usage("coverage: expected a number between 0 and 1, found {}", coverage);
  constexpr double kRounding = 1e-9;  // (9 + 1) (1 - .9) is 1
  const auto place =
      static_cast<int64_t>(std::floor((static_cast<double>(left_out.size()) + 1.0) * (1 - coverage) + kRounding));
  if (place < 1)
    fail("a coverage of {:g} % needs {} photos for leave-one-out, found {}: enrol more", 100 * coverage,
         static_cast<int64_t>(std::ceil(1 / (1 - coverage) - kRounding)) - 1, left_out.size());
  std::nth_element(left_out.begin(), left_out.begin() + (place - 1), left_out.end());
  return left_out[static_cast<size_t>(place - 1)];
}

}  // namespace protocom
