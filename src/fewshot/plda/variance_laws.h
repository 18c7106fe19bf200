#pragma once
#include <vector>

#include "fewshot/plda/space.h"

namespace protocom {

/// Classes that a space was not fitted on, seen in it. A network separates the classes that it was trained on better
/// than others: images of a new class scatter more, and class means lie closer together, most of all in the dimensions
/// where the old ones differed little. These measurements correct for it. All members
/// are [e].
struct HeldOutVariance {
  DoubleVector predictor;  ///< `between` of the space
  DoubleVector within;     ///< variance of images around their class's mean
  DoubleVector between;    ///< mean square of class means, less their sampling error
  DoubleVector residual;   ///< the same of class mean minus predicted mean
  int64_t leading = 0;
};

/// Measures held-out classes. `predicted` [c, e] are their means as knowledge predicts them; empty: 0. Throws Error for
/// fewer than two classes and when every class has one image only.
HeldOutVariance held_out_variance(const PldaSpace& space, const UnitMoments& held_out, const DoubleMatrix& predicted);

/// The mean of several, over the dimensions that all of them have as leading.
HeldOutVariance mean_of(const std::vector<HeldOutVariance>& parts);

/// How far the means [c, e] of held-out classes follow what knowledge predicts of them, [c, e], in [0, 1]: the least
/// squares factor sum p . m / sum |p|^2; 0 for a prediction of 0. Where knowledge tells nothing little is predicted and
/// the factor is noise of any size, of a prediction that hardly counts; to shrink it by its standard error over classes
/// gained nothing on real ones (docs/log/plda.md).
double strength_of_knowledge(const DoubleMatrix& predicted, const DoubleMatrix& means);

/// How a variance over classes follows from the one that the space was fitted with:
/// max(scale * between_i^power, floor) in leading dimensions, floor in the others.
struct VarianceLaw {
  double scale = 1;
  double power = 1;
  double floor = 0;

  /// The law's variances [e] for those of the fit, `between` [e], of which the first `leading` follow it.
  [[nodiscard]] DoubleVector values(const DoubleVector& between, int64_t leading) const;
};

/// The law nearest to `observed` [e]: power on a grid of .05 in [0, 2] and scale by maximum likelihood of variances
/// with chi-square scatter, floor the mean over the dimensions that are not leading (if there are none, the smallest
/// leading one). An observed variance counts as at least a ten-thousandth of the mean one.
VarianceLaw fit_variance_law(const DoubleVector& observed, const HeldOutVariance& evidence);

/// The laws of one space, and its new unit of length in every dimension.
struct VarianceLaws {
  VarianceLaw between;   ///< of class means around 0
  VarianceLaw residual;  ///< of class means around what knowledge predicts
  DoubleVector within;   ///< [e]: the held-out classes' own, but nowhere less than the mean of the leading dimensions
};

/// In dimensions where shrinkage made the variance within classes small it stays so: to scale them up again would undo
/// the shrinkage. In the dimensions that are not leading it is their mean, so that these remain isotropic.
VarianceLaws fit_variance_laws(const HeldOutVariance& evidence);

/// What a length in the space is in the rescaled one, [e].
DoubleVector unit_of(const VarianceLaws& laws);

/// The space with within-class variance 1 in every dimension again and the law's `between`.
PldaSpace rescaled(const PldaSpace& space, const VarianceLaws& laws);

/// The variances [e] between classes and around what knowledge predicts in the unit of length of the rescaled space.
DoubleVector between_variance(const PldaSpace& space, const VarianceLaws& laws);
DoubleVector residual_variance(const PldaSpace& space, const VarianceLaws& laws);

}  // namespace protocom
