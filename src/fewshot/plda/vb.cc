#include "fewshot/plda/vb.h"

#include "base/error.h"

namespace protocom {

void check_options(const PldaVbOptions& options) {
  const auto in_unit = [](double value) { return value >= 0 && value <= 1; };
  if (options.steps < 0 || !(options.concentration >= 0) || !(options.degrees >= 0) || !in_unit(options.trust) ||
      !in_unit(options.spread) || !in_unit(options.plausible) || !in_unit(options.least_weight)) {
    fail_usage(
        "steps and concentration: expected at least 0, found {} and {}; trust, spread, plausible and least weight: "
        "expected numbers in [0, 1], found {}, {}, {} and {}",
        options.steps, options.concentration, options.trust, options.spread, options.plausible, options.least_weight);
  }
  if ((options.proportions == Proportions::kGiven) == options.given.empty()) {
    fail_usage("proportions 'given' need the classes' shares, and other proportions take none");
  }
}

}  // namespace protocom
