#include "protocom/fewshot/plda/vb.h"

#include "protocom/core/error.h"

namespace protocom {

void check_options(const PldaVbOptions& options) {
  const auto in_unit = [](double value) { return value >= 0 && value <= 1; };
  if (options.steps < 0 || !in_unit(options.trust) || !in_unit(options.spread) || !(options.concentration >= 0)) {
    fail_usage(
        "steps {}, trust {}, spread {} and concentration {} were asked for, expected steps of at least 0, trust and "
        "spread in [0, 1], and a concentration of at least 0",
        options.steps, options.trust, options.spread, options.concentration);
  }
  if ((options.proportions == Proportions::kGiven) != options.given.defined()) {
    fail_usage("shares of the classes are needed for given proportions and for no others");
  }
}

}  // namespace protocom
