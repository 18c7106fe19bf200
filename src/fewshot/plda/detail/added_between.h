#pragma once
#include "fewshot/plda/detail/isotropic.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// Returns the variance added to a fitted space's variance between classes in every dimension: classes of another
/// domain also differ where those of the fit do not.
///
/// It is estimated in the dimensions from PldaSpace::leading on, in which the fitted variance is an extrapolation:
/// `sums` are over these alone, and `fitted` is the mean of PldaSpace::between there. With D = images - classes
///     a = max(0, a0 + D / (D + 8) (V / W - E - fitted - a0)),
/// where V is the variance of class means and W that within classes, both summed over those dimensions, E the mean of 1
/// / images of a class, and a0 = adaptation.added_between. 0 if a0 is negative, a0 if nothing can be estimated.
///
/// The textbook would express V in units of the fitted variance within classes, like the result; with MobileNet v1,
/// whose birds vary less there than other classes do, that lost .7 points (docs/log/plda.md).
double added_between(const PldaAdaptation& adaptation, const IsotropicSums& sums, double fitted);

}  // namespace protocom
