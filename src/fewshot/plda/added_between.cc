#include "fewshot/plda/detail/added_between.h"

#include <algorithm>

namespace protocom {
namespace {

/// Number of degrees of the labelled images that a0 counts as. 2 and 20 are equally good (docs/log/plda.md).
constexpr double kDegrees = 8;

}  // namespace

double added_between(const PldaAdaptation& adaptation, const IsotropicSums& sums, double fitted) {
  const double usual = adaptation.added_between, degrees = sums.images - sums.classes;
  if (usual < 0) return 0;
  // Without such dimensions the sums are rounding errors.
  if (degrees <= 0 || sums.classes < 2 || sums.dims < 1 || !(sums.within > 0)) return usual;
  const double found = degrees * sums.between / sums.within - sums.error - fitted;
  return std::max(0.0, usual + degrees / (degrees + kDegrees) * (found - usual));
}

}  // namespace protocom
